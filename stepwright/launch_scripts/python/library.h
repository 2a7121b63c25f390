#pragma once

#include <optional>
#include <string_view>

#include "stepwright/launch_scripts/python/object.h"

namespace stepwright::launch_scripts {

/// Interprets a built-in method of a text, list or mapping (`self`), which it can change, and
/// returns the result; nullopt for a method that is not supported.
std::optional<PythonObject> call_python_builtin_method(PythonObject& self, std::string_view method,
                                                       const PythonArguments& given);

/// Returns the result of a built-in or standard-library function ("str", "shlex.join",
/// "os.path.join"); nullopt for a function that is not supported.
std::optional<PythonObject> call_python_library_function(std::string_view name,
                                                         const PythonArguments& given);

}  // namespace stepwright::launch_scripts
