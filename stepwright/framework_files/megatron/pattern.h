#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/tree.h"

namespace stepwright::framework_files {

/// "([0]*3+[1]*58)": a list of numbers as Megatron-LM's arguments write it.
std::string pattern_text(const Tree& list);

/// The numbers of such a text: lists in brackets, sums and repetitions of them; nothing for another
/// text, and for lists of more than 65,536 numbers.
std::optional<std::vector<std::string>> read_pattern(std::string_view text);

}  // namespace stepwright::framework_files
