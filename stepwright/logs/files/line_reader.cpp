#include "stepwright/logs/files/line_reader.h"

#include <algorithm>
#include <cstring>

namespace stepwright::logs {

LineReader::LineReader(FileByteReader& source) : source_(source), buffer_(2 * kLongest) {}

bool LineReader::fill() {
  std::memmove(buffer_.data(), buffer_.data() + at_, end_ - at_);
  end_ -= at_;
  at_ = 0;
  const std::size_t got = source_.read_source_bytes(std::span(buffer_).subspan(end_));
  end_ += got;
  return got > 0;
}

bool LineReader::read_next_line(std::string_view& line) {
  cut_ = false;
  std::size_t searched = 0;
  const auto line_end = [&] {
    const void* found = std::memchr(buffer_.data() + at_ + searched, '\n', end_ - at_ - searched);
    searched = end_ - at_;
    return static_cast<const char*>(found);
  };
  const char* found = line_end();
  while (found == nullptr && end_ - at_ < kLongest && fill()) found = line_end();
  if (found == nullptr && end_ == at_) return false;
  ++number_;
  if (found != nullptr) {
    const auto stop = static_cast<std::size_t>(found - buffer_.data());
    line = {buffer_.data() + at_, stop - at_};
    at_ = stop + 1;
  } else if (end_ - at_ < kLongest) {
    line = {buffer_.data() + at_, end_ - at_};
    at_ = end_;
  } else {
    cut_ = true;
    line = {buffer_.data() + at_, kLongest};
    beginning_.assign(line);
    line = beginning_;
    for (at_ = end_; found == nullptr && fill(); at_ = found == nullptr ? end_ : at_) {
      found = static_cast<const char*>(std::memchr(buffer_.data(), '\n', end_));
      if (found != nullptr) at_ = static_cast<std::size_t>(found - buffer_.data()) + 1;
    }
  }
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return true;
}

}  // namespace stepwright::logs
