#include "stepwright/framework_files/megatron/pattern.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stepwright/core/scalar.h"

namespace stepwright::framework_files {
namespace {

/// Reads "([0]*3+[1]*58)", "[1,1,0]*4" and sums of such lists; nullopt for another text.
class PatternReader {
 public:
  explicit PatternReader(std::string_view text) : text_(text) {}

  std::optional<std::vector<std::string>> read() {
    auto all = sum();
    if (at_ != text_.size()) return std::nullopt;
    return all;
  }

 private:
  using List = std::optional<std::vector<std::string>>;
  static constexpr std::size_t kLongest = 65'536;
  static constexpr int kDeepest = 50;

  bool take(char c) {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    const bool here = at_ < text_.size() && text_[at_] == c;
    if (here) ++at_;
    return here;
  }

  List sum() {
    List all = times();
    while (all && take('+')) {
      const List more = times();
      if (!more || all->size() + more->size() > kLongest) return std::nullopt;
      all->insert(all->end(), more->begin(), more->end());
    }
    return all;
  }

  List times() {
    List one = atom();
    while (one && take('*')) {
      const IntegerParseResult count = read_integer(digits());
      const bool good =
          count.status == IntegerParseResult::IntegerParseStatus::kGood && count.value >= 0;
      if (!good || one->size() * static_cast<std::size_t>(count.value) > kLongest) {
        return std::nullopt;
      }
      std::vector<std::string> many;
      for (std::int64_t i = 0; i < count.value; ++i)
        many.insert(many.end(), one->begin(), one->end());
      one = std::move(many);
    }
    return one;
  }

  List atom() {
    if (take('(')) {
      if (++depth_ > kDeepest) return std::nullopt;
      List inner = sum();
      return inner && take(')') ? inner : std::nullopt;
    }
    if (!take('[')) return std::nullopt;
    std::vector<std::string> items;
    do {
      items.emplace_back(digits());
      if (items.back().empty() || items.size() > kLongest) return std::nullopt;
    } while (take(','));
    return take(']') ? List(items) : std::nullopt;
  }

  std::string_view digits() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    return text_.substr(begin, at_ - begin);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::string number_list_expression(const DocumentTree& list) {
  std::vector<std::string> runs;
  for (std::size_t i = 0; i < list.items.size();) {
    std::size_t end = i;
    while (end < list.items.size() && list.items[end].text == list.items[i].text) ++end;
    runs.push_back(fmt::format("[{}]*{}", list.items[i].text, end - i));
    i = end;
  }
  return fmt::format("({})", fmt::join(runs, "+"));
}

std::optional<std::vector<std::string>> parse_number_list_expression(std::string_view text) {
  return PatternReader(text).read();
}

}  // namespace stepwright::framework_files
