#pragma once

#include <span>
#include <string>
#include <string_view>

namespace stepwright {

// One function for each language that files are written in: whatever a text holds, a reader of the
// language finds the text itself, as data.

/// Returns a text as one word of a shell, in quotes, in which ends of lines and tabs stand as they
/// are. With other control characters, or malformed bytes, as bash, ksh and zsh read them: $'...'.
std::string in_shell_quotes(std::string_view text);

/// Returns a text as one word of a shell: as it is where it has no special character, otherwise as
/// `in_shell_quotes`.
std::string quoted_for_shell(std::string_view word);

/// Returns the words of a command with blanks between them, each as `quoted_for_shell`; none
/// becomes an assignment.
std::string quoted_for_shell(std::span<const std::string> words);

/// Return a text as a literal in double quotes. Malformed bytes become U+FFFD.
std::string quoted_for_python(std::string_view text);
std::string quoted_for_toml(std::string_view text);

/// Returns a text as a scalar of YAML: as it is where it reads as itself, otherwise in double
/// quotes. Malformed bytes become U+FFFD.
std::string quoted_for_yaml(std::string_view text);

/// Returns a text as a comment of a shell, Python, YAML, TOML or CSV, without the end of the line:
/// "# TEXT". What would end it is escaped as in `printable`.
std::string as_comment(std::string_view text);

}  // namespace stepwright
