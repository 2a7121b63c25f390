#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepwright::launch_scripts {

/// Text that bash's `printf` makes of a format and its arguments: words, escapes (as
/// `shell_unescaped` takes them), `%s`, `%b`, `%d`, `%0Nd` and `%%`, again and again until no
/// argument is left; nullopt for any other format, and for a `%d` of no whole number.
std::optional<std::string> shell_formatted(std::string_view format,
                                           const std::vector<std::string>& arguments);

/// `\n`, `\t`, `\r`, `\\` and quotes as `echo -e` prints them; nothing where another escape stands.
std::optional<std::string> shell_unescaped(std::string_view text);

}  // namespace stepwright::launch_scripts
