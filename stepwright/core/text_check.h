#pragma once

#include <string>
#include <string_view>

namespace stepwright {

/// Fails with `kInput` if a file is not UTF-8 text: names its kind if the first bytes tell it,
/// otherwise `file:line:column` of the first NUL or malformed byte. A text that begins with two
/// byte order marks also fails, because editors do not show them.
void check_utf8(std::string_view text, const std::string& file);

/// Checks the text of a YAML or JSON file. Fails with `kInput` if it is not UTF-8, or has a
/// carriage return without a line feed after it; lines must end with LF or CR LF, so that all
/// readers count the same lines.
void check_file_text(std::string_view text, const std::string& file);

}  // namespace stepwright
