#include "stepwright/cli/standard_output.h"

#include <unistd.h>

#include <cerrno>

#include "stepwright/core/descriptor.h"

namespace stepwright::cli {

StandardOutput::StandardOutput() : by_lines_(::isatty(STDOUT_FILENO) == 1), stream_(this) {
  setp(block_.data(), block_.data() + block_.size());
}

StandardOutput::~StandardOutput() { finish(); }

int StandardOutput::finish() {
  stream_.flush();
  return error_;
}

int StandardOutput::sync() {
  const std::string_view left(pbase(), static_cast<std::size_t>(pptr() - pbase()));
  setp(block_.data(), block_.data() + block_.size());
  if (error_ == 0 && !write_all_bytes(STDOUT_FILENO, left)) error_ = errno;
  return error_ == 0 ? 0 : -1;
}

StandardOutput::int_type StandardOutput::overflow(int_type c) {
  if (sync() != 0) return traits_type::eof();
  if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
  return sputc(traits_type::to_char_type(c));
}

std::streamsize StandardOutput::xsputn(const char* text, std::streamsize size) {
  const std::streamsize written = std::streambuf::xsputn(text, size);
  const std::string_view all(text, static_cast<std::size_t>(size));
  const bool ended = by_lines_ && all.find('\n') != std::string_view::npos;
  return ended && sync() != 0 ? 0 : written;
}

}  // namespace stepwright::cli
