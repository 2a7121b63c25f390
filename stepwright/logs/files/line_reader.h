#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/logs/files/byte_source.h"

namespace stepwright::logs {

/// Reason reported for a log line that is too long to be read whole.
inline constexpr const char* kLineTooLongReason =
    "a line longer than 1 MiB, of which the rest is not read";

/// Reads the lines of a text from front to back, in bounded memory.
class LineReader {
 public:
  explicit LineReader(FileByteReader& source);

  /// Sets `line` to the next line without its end (LF or CR LF), valid until the next call; a line
  /// longer than `kLongest` is cut to its beginning. Returns false at the end of the text.
  bool read_next_line(std::string_view& line);
  /// Returns the number of the line that was read last, from 1.
  [[nodiscard]] std::int64_t number() const { return number_; }
  /// True if the line that was read last was longer than `kLongest` and is cut.
  [[nodiscard]] bool is_line_truncated() const { return cut_; }

  static constexpr std::size_t kLongest = std::size_t{1} << 20;

 private:
  bool fill();

  FileByteReader& source_;
  std::vector<char> buffer_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  std::int64_t number_ = 0;
  bool cut_ = false;
  std::string beginning_;  ///< Copy of the beginning of a line that is too long.
};

}  // namespace stepwright::logs
