#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stepwright::launch_scripts {

/// Whether a whole text matches a pattern of the shell: `*`, `?`, `[a-z]`, `[!a-z]`, `@(a|b)`, and
/// behind a backslash any character as it stands.
bool matches_shell_pattern(std::string_view text, std::string_view pattern);

/// A text with which a pattern matches it and nothing else.
std::string as_pattern(std::string_view text);

enum class PatternEnd : bool { kFront, kBack };

/// The text without the shortest or longest part of its front or back that matches.
std::string without_match(std::string_view text, std::string_view pattern, PatternEnd end,
                          bool longest);

/// The text with the first match of a pattern, or all, replaced.
std::string with_matches_replaced(std::string_view text, std::string_view pattern,
                                  std::string_view by, bool all);

}  // namespace stepwright::launch_scripts
