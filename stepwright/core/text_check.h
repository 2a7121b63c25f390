#pragma once

#include <string>
#include <string_view>

namespace stepwright {

/// Fails with `kInput` where a file is no UTF-8 text: with its kind where its first bytes tell that
/// (`foreign_kind`), otherwise with `file:line:column` of the first NUL or malformed byte. So where
/// it begins with two byte order marks, which editors do not show.
void check_utf8(std::string_view text, const std::string& file);

/// Checks a document: fails as `check_utf8` does, and at a carriage return that no line feed
/// follows. Lines end with LF or CR LF, so that all readers and editors count the same lines.
void check_text(std::string_view text, const std::string& file);

}  // namespace stepwright
