#include "stepwright/core/escaped_text_stream.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "stepwright/core/utf8.h"

namespace stepwright {
namespace {

/// Returns how many bytes at the end of a text begin a character that is not complete; 0 if none.
std::size_t begun_bytes(std::string_view text) {
  constexpr std::size_t kMost = 3;
  for (std::size_t size = 1; size <= std::min(kMost, text.size()); ++size) {
    const auto byte = static_cast<unsigned char>(text[text.size() - size]);
    if (byte < 0x80) return 0;
    if (byte < 0xC0) continue;
    const std::size_t whole = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
    return whole > size ? size : 0;
  }
  return 0;
}

}  // namespace

EscapingStreamBuffer::~EscapingStreamBuffer() { target_ << terminal_safe_text(begun_); }

EscapingStreamBuffer::int_type EscapingStreamBuffer::overflow(int_type c) {
  if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
  const char byte = traits_type::to_char_type(c);
  return xsputn(&byte, 1) == 1 ? c : traits_type::eof();
}

std::streamsize EscapingStreamBuffer::xsputn(const char* text, std::streamsize size) {
  const std::string all = std::exchange(begun_, {}).append(text, static_cast<std::size_t>(size));
  const std::size_t whole = all.size() - begun_bytes(all);
  begun_ = all.substr(whole);
  target_ << terminal_safe_text(std::string_view(all).substr(0, whole));
  return target_ ? size : 0;
}

int EscapingStreamBuffer::sync() { return target_.flush() ? 0 : -1; }

}  // namespace stepwright
