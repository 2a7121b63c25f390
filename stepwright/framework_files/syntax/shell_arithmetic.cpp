#include "stepwright/framework_files/syntax/shell_arithmetic.h"

#include <charconv>

namespace stepwright {
namespace {

/// Whole numbers with + - * / % and parentheses; names were filled in before.
class Arithmetic {
 public:
  explicit Arithmetic(std::string_view text) : text_(text) {}

  std::optional<std::int64_t> value() {
    const auto sum = this->sum();
    skip();
    return at_ == text_.size() ? sum : std::nullopt;
  }

 private:
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  [[nodiscard]] bool take(char c) {
    skip();
    const bool here = at_ < text_.size() && text_[at_] == c;
    if (here) ++at_;
    return here;
  }
  std::optional<std::int64_t> sum() {
    auto total = product();
    while (total) {
      const bool plus = take('+');
      if (!plus && !take('-')) break;
      const auto next = product();
      if (!next) return std::nullopt;
      std::int64_t result = 0;
      if (plus ? __builtin_add_overflow(*total, *next, &result)
               : __builtin_sub_overflow(*total, *next, &result)) {
        return std::nullopt;
      }
      total = result;
    }
    return total;
  }
  std::optional<std::int64_t> product() {
    auto total = atom();
    while (total) {
      const char sign = take('*') ? '*' : take('/') ? '/' : take('%') ? '%' : ' ';
      if (sign == ' ') break;
      const auto next = atom();
      if (!next || (sign != '*' && *next <= 0)) return std::nullopt;
      if (sign == '*') {
        std::int64_t result = 0;
        if (__builtin_mul_overflow(*total, *next, &result)) return std::nullopt;
        total = result;
      } else {
        total = sign == '/' ? *total / *next : *total % *next;
      }
    }
    return total;
  }
  std::optional<std::int64_t> atom() {
    if (take('(')) {
      if (++depth_ > kDeepest) return std::nullopt;
      const auto inner = sum();
      return inner && take(')') ? inner : std::nullopt;
    }
    skip();
    std::int64_t number = 0;
    const auto [end, error] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
    if (error != std::errc()) return std::nullopt;
    at_ = static_cast<std::size_t>(end - text_.data());
    return number;
  }

  static constexpr int kDeepest = 100;
  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::optional<std::int64_t> arithmetic_value(std::string_view text) {
  return Arithmetic(text).value();
}

}  // namespace stepwright
