#pragma once

#include <optional>
#include <string_view>

#include "stepwright/launch_scripts/python/object.h"

namespace stepwright::launch_scripts {

/// Returns the result of a method of a text, list or mapping, which it can change; nullopt for
/// others.
std::optional<PythonObject> python_object_method(PythonObject& self, std::string_view method,
                                                 const PythonArguments& given);

/// Returns the result of a built-in or library function ("str", "shlex.join", "os.path.join");
/// nullopt for others.
std::optional<PythonObject> python_library(std::string_view name, const PythonArguments& given);

}  // namespace stepwright::launch_scripts
