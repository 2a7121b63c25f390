#pragma once

#include <array>
#include <cstddef>
#include <ostream>
#include <streambuf>
#include <string_view>

namespace stepwright::cli {

/// Standard output as a stream that remembers why writing failed. Writes to a terminal line by
/// line, and to files and pipes in larger blocks.
class StandardOutput : private std::streambuf {
 public:
  StandardOutput();
  /// Writes the bytes that are still buffered to standard output; ignores failures.
  ~StandardOutput() override;
  StandardOutput(const StandardOutput&) = delete;
  StandardOutput& operator=(const StandardOutput&) = delete;

  [[nodiscard]] std::ostream& stream() { return stream_; }

  /// Writes the remaining bytes. Returns 0 if all output was written, else the `errno` of the first
  /// failure, after which nothing more was written.
  int finish();

 private:
  int sync() override;
  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;

  std::array<char, std::size_t{1} << 16U> block_{};
  bool by_lines_;
  int error_ = 0;
  std::ostream stream_;
};

}  // namespace stepwright::cli
