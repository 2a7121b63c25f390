#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepwright::launch_scripts {

/// Returns the text that bash's `printf` prints for a format and its arguments: plain text, escapes
/// (as in `shell_echo_unescaped`), `%s`, `%b`, `%d`, `%0Nd` and `%%`; the format repeats until all
/// arguments are used. nullopt for any other format, and for a `%d` of something that is not an
/// integer.
std::optional<std::string> shell_printf_text(std::string_view format,
                                             const std::vector<std::string>& arguments);

/// Returns a text with `\n`, `\t`, `\r`, `\\` and quotes replaced as by `echo -e`; nullopt if it
/// has another escape.
std::optional<std::string> shell_echo_unescaped(std::string_view text);

}  // namespace stepwright::launch_scripts
