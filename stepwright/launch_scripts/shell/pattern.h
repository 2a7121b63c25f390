#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stepwright::launch_scripts {

/// True if the whole text matches a shell pattern: `*`, `?`, `[a-z]`, `[!a-z]`, `@(a|b)`, and a
/// backslash before a literal character.
bool matches_shell_pattern(std::string_view text, std::string_view pattern);

/// Returns a shell pattern that matches exactly this text.
std::string escape_shell_pattern(std::string_view text);

enum class PatternEnd : bool { kFront, kBack };

/// Returns a text without the shortest or longest match of a shell pattern at its front or back, as
/// `${NAME#PATTERN}` does.
std::string remove_shell_pattern_match(std::string_view text, std::string_view pattern,
                                       PatternEnd end, bool longest);

/// Returns a text in which `by` replaces the first match of a shell pattern, or all matches, as
/// `${NAME/PATTERN/BY}` does.
std::string replace_shell_pattern_matches(std::string_view text, std::string_view pattern,
                                          std::string_view by, bool all);

}  // namespace stepwright::launch_scripts
