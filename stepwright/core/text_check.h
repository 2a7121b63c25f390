#pragma once

#include <string>
#include <string_view>

namespace stepwright {

/// Fails with `kInput` if a file is not UTF-8 text: with its kind if its first bytes tell it
/// (`non_text_file_kind`), otherwise with `file:line:column` of the first NUL or malformed byte. A
/// text that begins with two byte order marks, which editors do not show, also fails.
void check_utf8(std::string_view text, const std::string& file);

/// Checks the text of a document: fails as `check_utf8`, and at a carriage return without a line
/// feed after it. Lines must end with LF or CR LF, so that all readers and editors count the same
/// lines.
void check_text(std::string_view text, const std::string& file);

}  // namespace stepwright
