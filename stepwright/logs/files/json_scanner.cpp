#include "stepwright/logs/files/json_scanner.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/core/utf8.h"

namespace stepwright::logs {
namespace {

constexpr std::size_t kReadAhead = std::size_t{1} << 20;
constexpr std::size_t kLargestPiece = std::size_t{64} << 20;
constexpr int kDeepestPiece = 100;

constexpr std::array<bool, 256> brackets_and_quotes() {
  std::array<bool, 256> special{};
  for (const char c : {'{', '}', '[', ']', '"'}) special[static_cast<unsigned char>(c)] = true;
  return special;
}
constexpr std::array<bool, 256> kSpecial = brackets_and_quotes();

constexpr bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

class JsonScanner {
 public:
  JsonScanner(FileByteReader& source, std::span<const std::string_view> lists,
              const std::function<void(const JsonPiece&)>& take)
      : source_(source), lists_(lists), take_(take), buffer_(2 * kReadAhead) {}

  void run() {
    skip_mark();
    const char first = next("a document");
    if (first == '[') {
      ++at_;
      elements("");
    } else if (first == '{') {
      ++at_;
      members();
    } else {
      fail("is not a JSON document: it begins with neither { nor [");
    }
    keep_from_here();
    if (skip_spaces()) fail("text after the end");
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    fail_input(fmt::format("{}: byte {}: {}", source_.name(), offset_ + at_ + 1, what));
  }

  /// Reads more bytes after those in the buffer, keeping the current piece. False at the end.
  bool fill() {
    if (begin_ > 0) {
      std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
      offset_ += begin_;
      at_ -= begin_;
      end_ -= begin_;
      begin_ = 0;
    }
    if (end_ + kReadAhead + kSimdjsonPaddingBytes > buffer_.size()) {
      if (buffer_.size() > kLargestPiece) fail("a value larger than 64 MiB");
      buffer_.resize(2 * buffer_.size());
    }
    const std::size_t got = source_.read_source_bytes(std::span(buffer_).subspan(end_, kReadAhead));
    end_ += got;
    return got > 0;
  }

  void keep_from_here() { begin_ = at_; }

  /// Skips blanks; false at the end of the document.
  bool skip_spaces() {
    for (;;) {
      while (at_ < end_ && is_space(buffer_[at_])) ++at_;
      if (at_ < end_) return true;
      keep_from_here();
      if (!fill()) return false;
    }
  }

  char next(std::string_view expected) {
    if (!skip_spaces()) fail(fmt::format("the file ends where {} should stand", expected));
    return buffer_[at_];
  }

  void skip_mark() {
    skip_spaces();
    if (end_ - at_ >= 3 && std::memcmp(buffer_.data() + at_, "\xEF\xBB\xBF", 3) == 0) at_ += 3;
  }

  void need_more() {
    if (!fill()) fail("the file ends in the middle of a value");
  }

  /// Skips from an opening quote to the position after the closing one.
  void skip_string() {
    ++at_;
    for (;;) {
      const void* found = std::memchr(buffer_.data() + at_, '"', end_ - at_);
      if (found == nullptr) {
        at_ = end_;
        need_more();
        continue;
      }
      at_ = static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.data());
      std::size_t slashes = 0;
      while (buffer_[at_ - 1 - slashes] == '\\') ++slashes;
      ++at_;
      if (slashes % 2 == 0) return;
    }
  }

  void skip_nested() {
    int depth = 0;
    do {
      const char* const stop = buffer_.data() + end_;
      const char* place = buffer_.data() + at_;
      while (place < stop && !kSpecial[static_cast<unsigned char>(*place)]) ++place;
      at_ = static_cast<std::size_t>(place - buffer_.data());
      if (at_ == end_) {
        need_more();
        continue;
      }
      switch (buffer_[at_]) {
        case '"': skip_string(); continue;
        case '{':
        case '[':
          if (++depth > kDeepestPiece) fail("nested deeper than 100 levels");
          break;
        default: --depth;
      }
      ++at_;
    } while (depth > 0);
  }

  void skip_scalar() {
    const auto ends = [](char c) {
      return c == ',' || c == '}' || c == ']' || is_space(c) || c == '"' || c == ':';
    };
    for (;;) {
      while (at_ < end_ && !ends(buffer_[at_])) ++at_;
      if (at_ < end_) break;
      if (!fill()) break;
    }
    if (at_ == begin_) fail("a value is missing");
  }

  /// Returns the text of the value at the current position.
  std::string_view value() {
    const char first = next("a value");
    keep_from_here();
    if (first == '"') {
      skip_string();
    } else if (first == '{' || first == '[') {
      skip_nested();
    } else {
      skip_scalar();
    }
    if (buffer_.size() < end_ + kSimdjsonPaddingBytes) buffer_.resize(end_ + kSimdjsonPaddingBytes);
    return {buffer_.data() + begin_, at_ - begin_};
  }

  /// Skips the comma before a further element or member; false if the list or mapping ends.
  bool separated(char close, bool first) {
    const char c = next(close == ']' ? "the end of a list" : "the end of a mapping");
    if (c == close) {
      ++at_;
      return false;
    }
    if (first) return true;
    if (c != ',') fail("a comma is missing");
    ++at_;
    return next("another value") != close || !closed_after_comma(close);
  }

  /// Skips a closing bracket after a comma: some writers leave a comma after the last element.
  bool closed_after_comma(char close) {
    if (buffer_[at_] != close) return false;
    ++at_;
    return true;
  }

  void elements(const std::string& key) {
    std::int64_t number = 0;
    while (separated(']', number == 0)) {
      const std::string_view text = value();
      take_({key, true, ++number, offset_ + begin_, text});
    }
  }

  void members() {
    std::set<std::string> keys;
    bool first = true;
    while (separated('}', first)) {
      first = false;
      if (next("a key") != '"') fail("a key in quotes is missing");
      const std::string_view quoted = value();
      const std::string key(quoted.substr(1, quoted.size() - 2));
      if (!keys.insert(key).second)
        fail(fmt::format("the key '{}' is given twice", one_line_printable_text(key)));
      if (next("a colon") != ':') fail("a colon is missing");
      ++at_;
      const bool opens = next("a value") == '[';
      if (std::ranges::find(lists_, key) != lists_.end()) {
        if (!opens) fail(fmt::format("'{}' must be a list", key));
        ++at_;
        elements(key);
      } else {
        const std::string_view text = value();
        if (text.find('\0') != text.npos)
          fail(fmt::format("a NUL byte in '{}'", one_line_printable_text(key)));
        take_({key, false, 0, offset_ + begin_, text});
      }
    }
  }

  FileByteReader& source_;
  std::span<const std::string_view> lists_;
  const std::function<void(const JsonPiece&)>& take_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;   ///< Start of the piece that is being read.
  std::size_t at_ = 0;      ///< Index of the next byte.
  std::size_t end_ = 0;     ///< End of what was read.
  std::size_t offset_ = 0;  ///< Offset of the buffer in the document.
};

}  // namespace

void stream_json_pieces(FileByteReader& source, std::span<const std::string_view> lists,
                        const std::function<void(const JsonPiece&)>& take) {
  JsonScanner(source, lists, take).run();
}

JsonFirstKeys json_outline(std::string_view beginning) {
  JsonFirstKeys outline;
  const std::size_t first = beginning.find_first_of("{[");
  if (first == std::string_view::npos) return outline;
  outline.list = beginning[first] == '[';
  int depth = 0;
  int mappings = 0;  // mappings opened below the first level
  for (std::size_t at = first; at < beginning.size(); ++at) {
    const char c = beginning[at];
    if (c == '{' || c == '[') {
      ++depth;
      if (c == '{' && depth == 2) ++mappings;
    } else if (c == '}' || c == ']') {
      if (--depth == 0) break;
    } else if (c == '"') {
      std::size_t stop = at + 1;
      while (stop < beginning.size() && beginning[stop] != '"')
        stop += beginning[stop] == '\\' ? 2 : 1;
      if (stop >= beginning.size()) break;
      const std::size_t after = beginning.find_first_not_of(" \t\r\n", stop + 1);
      if (after != std::string_view::npos && beginning[after] == ':') {
        const std::string key(beginning.substr(at + 1, stop - at - 1));
        if (depth == 1) outline.keys.push_back(key);
        if (depth == 2 && mappings == 1) {
          (outline.list ? outline.keys : outline.inner_keys).push_back(key);
        }
      }
      at = stop;
    }
  }
  return outline;
}

}  // namespace stepwright::logs
