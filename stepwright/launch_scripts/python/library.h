#pragma once

#include <optional>
#include <string_view>

#include "stepwright/launch_scripts/python/object.h"

namespace stepwright::launch_scripts {

/// Result of a method of a text, a list or a mapping, which may change it; nullopt for others.
std::optional<PythonObject> python_object_method(PythonObject& self, std::string_view method,
                                                 const PythonArguments& given);

/// Result of a function of Python or its library: "str", "shlex.join", "os.path.join".
std::optional<PythonObject> python_library(std::string_view name, const PythonArguments& given);

}  // namespace stepwright::launch_scripts
