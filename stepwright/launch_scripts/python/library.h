#pragma once

#include <optional>
#include <string_view>

#include "stepwright/launch_scripts/python/object.h"

namespace stepwright::launch_scripts {

/// What a method of a text, a list or a mapping gives, and does to it; nothing for others.
std::optional<PythonObject> python_object_method(PythonObject& self, std::string_view method,
                                                 const PythonArguments& given);

/// What a function of Python or its library gives: "str", "shlex.join", "os.path.join".
std::optional<PythonObject> python_library(std::string_view name, const PythonArguments& given);

}  // namespace stepwright::launch_scripts
