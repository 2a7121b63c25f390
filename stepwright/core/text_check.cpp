#include "stepwright/core/text_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "stepwright/core/assembler.h"
#include "stepwright/core/error.h"
#include "stepwright/core/file_kind.h"
#include "stepwright/core/utf8.h"

namespace stepwright {
namespace {

/// Returns the offset of the first carriage return without a line feed after it; `npos` if there is
/// none.
std::size_t find_lone_return(std::string_view text) {
  std::size_t at = text.find('\r');
  while (at != std::string_view::npos && text.substr(at + 1).starts_with('\n')) {
    at = text.find('\r', at + 2);
  }
  return at;
}

}  // namespace

void check_utf8(std::string_view text, const std::string& file) {
  if (text.starts_with("\xEF\xBB\xBF\xEF\xBB\xBF")) {
    fail_at_text_position(
        file, {}, "begins with two byte order marks: save the file as UTF-8 with one or none");
  }
  if (const std::string kind = non_text_file_kind(text, file); !kind.empty()) {
    fail_at_text_position(file, {}, kind);
  }
  const std::size_t bad = std::min(find_bad_utf8(text), text.find('\0'));
  if (bad == std::string_view::npos) return;
  const auto byte = static_cast<unsigned char>(text[bad]);
  fail_at_text_position(
      file, text_position_at_offset(text, bad),
      byte == 0 ? "a NUL byte: the file is not text, or is cut; UTF-8 text has none"
                : fmt::format("byte 0x{:02x} is not UTF-8 text: save the file as UTF-8", byte));
}

void check_file_text(std::string_view text, const std::string& file) {
  check_utf8(text, file);
  const std::size_t at = find_lone_return(text);
  if (at == std::string_view::npos) return;
  fail_at_text_position(
      file, text_position_at_offset(text, at),
      "a carriage return (CR) that no line feed follows: save the file with LF line ends");
}

}  // namespace stepwright
