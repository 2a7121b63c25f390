#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/logs/files/byte_source.h"

namespace stepwright::logs {

/// Why a line that is cut is not explained.
inline constexpr const char* kCutLine = "a line longer than 1 MiB, of which the rest is not read";

/// Lines of a text from front to back, in bounded memory.
class LineReader {
 public:
  explicit LineReader(ByteSource& source);

  /// The next line without its end (LF or CR LF), valid until the next call; of a line longer than
  /// `kLongest` the beginning. False at the end.
  bool next(std::string_view& line);
  /// Number of the line that `next` gave, from 1.
  [[nodiscard]] std::int64_t number() const { return number_; }
  /// Whether that line was longer than `kLongest`.
  [[nodiscard]] bool cut() const { return cut_; }

  static constexpr std::size_t kLongest = std::size_t{1} << 20;

 private:
  bool fill();

  ByteSource& source_;
  std::vector<char> buffer_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  std::int64_t number_ = 0;
  bool cut_ = false;
  std::string beginning_;  ///< Beginning of a line that is too long.
};

}  // namespace stepwright::logs
