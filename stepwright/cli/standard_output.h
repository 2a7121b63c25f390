#pragma once

#include <array>
#include <cstddef>
#include <ostream>
#include <streambuf>
#include <string_view>

namespace stepwright::cli {

/// Standard output as a stream that knows why it could not be written. A terminal shows each line
/// when it ends; files and pipes get blocks.
class StandardOutput : private std::streambuf {
 public:
  StandardOutput();
  /// Writes what is left, without a word about failures.
  ~StandardOutput() override;
  StandardOutput(const StandardOutput&) = delete;
  StandardOutput& operator=(const StandardOutput&) = delete;

  [[nodiscard]] std::ostream& stream() { return stream_; }

  /// Writes what is left. Returns the `errno` of the first failure, after which nothing was
  /// written; 0: all was written.
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
