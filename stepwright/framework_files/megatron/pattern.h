#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/tree.h"

namespace stepwright::framework_files {

/// Returns a list of numbers as Megatron-LM's arguments write it: "([0]*3+[1]*58)".
std::string pattern_text(const Tree& list);

/// Reads the numbers of such a text: lists in brackets, their sums and repetitions. nullopt for
/// another text, and for more than 65,536 numbers.
std::optional<std::vector<std::string>> read_pattern(std::string_view text);

}  // namespace stepwright::framework_files
