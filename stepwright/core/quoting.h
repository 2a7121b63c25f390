#pragma once

#include <span>
#include <string>
#include <string_view>

namespace stepwright {

// One function for each language that files are written in: whatever a text holds, a reader of the
// language finds the text itself, as data.

/// Returns a text in single quotes, as one word of a shell. Line ends and tabs stay; a text with
/// other control characters or malformed bytes is written as $'...', which bash, ksh and zsh read.
std::string in_shell_quotes(std::string_view text);

/// Returns a text as one word of a shell: unchanged if it has no special character, otherwise in
/// single quotes.
std::string quoted_for_shell(std::string_view word);

/// Returns words as a shell command line, each quoted if necessary, with blanks between them. A
/// first word such as NAME=VALUE is quoted, so that the shell does not read it as an assignment.
std::string quoted_for_shell(std::span<const std::string> words);

/// Returns a text as a Python string literal in double quotes; `quoted_for_toml`: as one of TOML.
/// Malformed bytes become U+FFFD.
std::string quoted_for_python(std::string_view text);
std::string quoted_for_toml(std::string_view text);

/// Returns a text as a YAML scalar: without quotes if YAML reads it back as this text, otherwise in
/// double quotes. Malformed bytes become U+FFFD.
std::string quoted_for_yaml(std::string_view text);

/// Returns a text as one comment line of shell, Python, YAML, TOML or CSV: "# TEXT", without a line
/// end. Line ends and control characters in the text are escaped.
std::string as_comment_line(std::string_view text);

}  // namespace stepwright
