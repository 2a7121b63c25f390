#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/tree.h"

namespace stepwright::framework_files {

/// Returns a list of numbers in the short form of Megatron-LM's arguments: "([0]*3+[1]*58)" for 3
/// zeros and 58 ones.
std::string number_list_expression(const DocumentTree& list);

/// Returns the numbers of a list expression in a Megatron-LM argument: "([0]*3+[1]*58)". nullopt
/// for another text, and for more than 65,536 numbers.
std::optional<std::vector<std::string>> parse_number_list_expression(std::string_view text);

}  // namespace stepwright::framework_files
