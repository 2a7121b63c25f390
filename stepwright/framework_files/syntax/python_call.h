#pragma once

#include <string>
#include <string_view>

#include "stepwright/core/document.h"

namespace stepwright {

/// The keyword arguments of the first call of `function` in a Python text, as a document: numbers,
/// texts, None, True, False, lists, mappings, dotted names as words, and nested calls, whose name
/// stands under `()` and whose arguments without keyword under `[]`. Nothing is executed, so nested
/// calls must be of classes, which begin with a capital, or of `data`. Fails with `kInput` where
/// there is no such call, and where an argument is anything else, naming the place.
Document read_python_call(std::string_view text, std::string_view function, const std::string& name,
                          std::string_view data = "");

}  // namespace stepwright
