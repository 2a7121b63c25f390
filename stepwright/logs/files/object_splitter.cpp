#include "stepwright/logs/files/object_splitter.h"

#include <string>
#include <string_view>
#include <vector>

namespace stepwright::logs {
namespace {

constexpr std::size_t kLargestObject = std::size_t{1} << 20;

class ObjectSplitter {
 public:
  explicit ObjectSplitter(const std::function<void(const BracedTextObject&)>& take) : take_(take) {}

  void add(char c) {
    if (c == '\n') ++line_;
    if (depth_ == 0) {
      if (strange_ && (c == '{' || c == '\n')) give_strange();
      if (c != '{') return between(c);
      begun_ = line_;
      object_.clear();
    }
    if (object_.size() < kLargestObject) object_ += c;
    if (in_text_) {
      in_text_ = escaped_ || c != '"';
      escaped_ = !escaped_ && c == '\\';
    } else if (c == '"') {
      in_text_ = true;
    } else if (c == '{') {
      ++depth_;
    } else if (c == '}' && --depth_ == 0) {
      give(object_.size() < kLargestObject);
    }
  }

  void end() {
    if (strange_) give_strange();
    if (depth_ > 0) give(false);
  }

 private:
  /// Skips the commas between objects and the brackets of their list; other text is reported.
  void between(char c) {
    constexpr std::string_view kExpected = " \t\r\n,[]\xEF\xBB\xBF";
    if (!strange_ && kExpected.find(c) != std::string_view::npos) return;
    if (!strange_) {
      begun_ = line_;
      object_.clear();
    }
    strange_ = true;
    if (object_.size() < kLargestObject) object_ += c;
  }

  void give_strange() {
    strange_ = false;
    give(false);
  }

  void give(bool whole) { take_({.text = object_, .line = begun_, .whole = whole}); }

  const std::function<void(const BracedTextObject&)>& take_;
  std::string object_;
  std::int64_t line_ = 1;
  std::int64_t begun_ = 1;
  std::int64_t depth_ = 0;
  bool strange_ = false;  ///< True inside a run of text that is no object.
  bool in_text_ = false;
  bool escaped_ = false;
};

}  // namespace

void stream_outermost_braced_objects(FileByteReader& source,
                                     const std::function<void(const BracedTextObject&)>& take) {
  ObjectSplitter splitter(take);
  std::vector<char> chunk(std::size_t{256} << 10);
  for (std::size_t got = 0; (got = source.read_source_bytes(chunk)) > 0;) {
    for (std::size_t i = 0; i < got; ++i) splitter.add(chunk[i]);
  }
  splitter.end();
}

}  // namespace stepwright::logs
