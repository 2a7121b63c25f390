#pragma once

#include <span>
#include <string>
#include <string_view>

namespace stepwright {

// One function for each language that files are written in: whatever a text holds, a reader of the
// language finds the text itself, as data.

/// Returns a text as one quoted word of a shell; line ends and tabs stay as they are. A text with
/// other control characters or malformed bytes is written as $'...', which bash, ksh and zsh read.
std::string in_shell_quotes(std::string_view text);

/// Returns a text as one word of a shell: unchanged if it has no special character, otherwise
/// quoted by `in_shell_quotes`.
std::string quoted_for_shell(std::string_view word);

/// Returns a command line: the words, each quoted by `quoted_for_shell`, with blanks between them.
/// A first word such as NAME=VALUE is quoted so that the shell does not read it as an assignment.
std::string quoted_for_shell(std::span<const std::string> words);

/// `quoted_for_python`, `quoted_for_toml`: return a text as a literal of that language in double
/// quotes. Malformed bytes become U+FFFD.
std::string quoted_for_python(std::string_view text);
std::string quoted_for_toml(std::string_view text);

/// Returns a text as a YAML scalar: unquoted if YAML reads it back as this text, otherwise in
/// double quotes. Malformed bytes become U+FFFD.
std::string quoted_for_yaml(std::string_view text);

/// Returns a text as a comment line of a shell, Python, YAML, TOML or CSV: "# TEXT", without a line
/// end. Characters that would end the line are escaped as in `printable`.
std::string as_comment(std::string_view text);

}  // namespace stepwright
