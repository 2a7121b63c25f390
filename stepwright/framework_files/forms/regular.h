#pragma once

#include <optional>
#include <string_view>

namespace stepwright::framework_files {

/// True if a Python regular expression matches the whole text (`re.fullmatch`), of at most 255
/// bytes. nullopt if the expression is malformed, has lookahead, references or other rare
/// constructs, or needs more than a million steps, so that time is bounded.
std::optional<bool> fullmatch_regex(std::string_view expression, std::string_view text);

/// True if a text contains a special character of regular expressions other than `.`, so that it is
/// not a plain dotted name.
bool contains_special_regex_character(std::string_view text);

}  // namespace stepwright::framework_files
