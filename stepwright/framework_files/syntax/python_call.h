#pragma once

#include <string>
#include <string_view>

#include "stepwright/core/document.h"

namespace stepwright {

/// The place of the first call of `function` in a Python text, not in a comment; `npos` without
/// one.
std::size_t find_python_call(std::string_view text, std::string_view function);

/// The keyword arguments of the first call of `function` in a Python text, as a document of what
/// `PythonReader` reads. Nothing is executed, so nested calls must be of classes, which begin with
/// a capital, or of `data`. Fails with `kInput` where there is no such call, and where an argument
/// is anything else, naming the place.
Document read_python_call(std::string_view text, std::string_view function, const std::string& name,
                          std::string_view data = "");

}  // namespace stepwright
