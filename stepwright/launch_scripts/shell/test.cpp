#include "stepwright/launch_scripts/shell/test.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "stepwright/launch_scripts/shell/pattern.h"
#include "stepwright/launch_scripts/shell/syntax.h"

namespace stepwright::launch_scripts {
namespace {

constexpr int kDeepestTests = 50;

bool compared_numbers(std::string_view sign, std::int64_t a, std::int64_t b) {
  if (sign == "-eq") return a == b;
  if (sign == "-ne") return a != b;
  if (sign == "-lt") return a < b;
  if (sign == "-le") return a <= b;
  if (sign == "-gt") return a > b;
  return a >= b;
}

/// Returns whether a text matches a regular expression; nullopt unless the expression is one of a
/// few simple ones.
std::optional<bool> matches_expression(const std::string& text, std::string_view expression) {
  const bool front = expression.starts_with('^');
  if (front) expression.remove_prefix(1);
  const bool back = expression.ends_with('$');
  if (back) expression.remove_suffix(1);
  if (front && back && expression == "[0-9]+") {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  }
  if (expression.find_first_of(".[](){}*+?|\\^$") != std::string_view::npos) return std::nullopt;
  if (front && back) return text == expression;
  if (front) return text.starts_with(expression);
  if (back) return text.ends_with(expression);
  return text.find(expression) != std::string::npos;
}

class Test {
 public:
  Test(std::span<const ShellTestWord> words, const std::function<bool(const std::string&)>& is_set)
      : words_(words), is_set_(is_set) {}

  ShellExitStatus status() {
    if (words_.empty()) return {.ok = false};
    ShellExitStatus all = any();
    if (at_ < words_.size()) return {.ok = false, .known = false};
    return all;
  }

 private:
  [[nodiscard]] bool here(std::string_view sign, std::string_view other = "") const {
    if (at_ >= words_.size() || !words_[at_].sign) return false;
    return words_[at_].text == sign || (!other.empty() && words_[at_].text == other);
  }

  ShellExitStatus any() {
    ShellExitStatus left = all();
    while (here("||", "-o")) {
      ++at_;
      left = either(std::move(left), all());
    }
    return left;
  }
  ShellExitStatus all() {
    ShellExitStatus left = one();
    while (here("&&", "-a")) {
      ++at_;
      left = both(std::move(left), one());
    }
    return left;
  }

  ShellExitStatus one() {
    if (++depth_ > kDeepestTests || at_ >= words_.size()) return {.ok = false, .known = false};
    ShellExitStatus status;
    if (here("!") && at_ + 1 < words_.size()) {
      ++at_;
      status = opposite(one());
    } else if (here("(")) {
      ++at_;
      status = any();
      if (here(")")) ++at_;
    } else {
      status = comparison();
    }
    --depth_;
    return status;
  }

  static bool is_comparison(const ShellTestWord& word) {
    static constexpr std::string_view kComparisons[] = {"=",   "==",  "!=",  "=~",  "<",   ">",
                                                        "-eq", "-ne", "-lt", "-le", "-gt", "-ge"};
    return word.sign && std::ranges::find(kComparisons, word.text) != std::end(kComparisons);
  }

  ShellExitStatus comparison() {
    const ShellTestWord& left = words_[at_++];
    if (at_ + 1 < words_.size() && is_comparison(words_[at_])) {
      const ShellTestWord& sign = words_[at_];
      const ShellTestWord& right = words_[at_ + 1];
      at_ += 2;
      return compare(left, sign.text, right);
    }
    const bool unary = left.sign && left.text.size() == 2 && left.text.front() == '-' &&
                       at_ < words_.size() && !here("&&", "||") && !here(")") && !here("-a", "-o");
    if (!unary) return filled(left.text);
    const std::string& text = words_[at_++].text;
    if (left.text == "-z") return opposite(filled(text));
    if (left.text == "-n") return filled(text);
    if (left.text == "-v") {
      if (is_set_(text)) return {};
      return {.ok = false, .known = false, .open = {"$" + text_without_placeholders(text)}};
    }
    return {
        .ok = false, .known = false, .open = {left.text + " " + text_without_placeholders(text)}};
  }

  static ShellExitStatus filled(const std::string& text) {
    if (is_fully_known_script_text(text)) return {.ok = !text.empty()};
    if (!without_unknown_parts(text).empty()) return {};
    return {.ok = false, .known = false, .open = unknown_parts_of(text)};
  }

  static ShellExitStatus compare(const ShellTestWord& left, const std::string& sign,
                                 const ShellTestWord& right) {
    ShellExitStatus status{.known = is_fully_known_script_text(left.text) &&
                                    is_fully_known_script_text(right.text)};
    status.open = unknown_parts_of(left.text);
    for (std::string& place : unknown_parts_of(right.text)) status.open.push_back(std::move(place));
    const std::string text = without_unknown_parts(left.text);
    const std::string other = without_unknown_parts(right.text);
    if (sign.starts_with('-')) {
      const auto a = shell_integer(text);
      const auto b = shell_integer(other);
      status.ok = a && b && compared_numbers(sign, *a, *b);
    } else if (sign == "<" || sign == ">") {
      status.ok = sign == "<" ? text < other : text > other;
    } else if (sign == "=~") {
      const auto match = matches_expression(text, other);
      status.ok = match.value_or(false);
      status.known = status.known && match;
    } else {
      status.ok =
          matches_shell_pattern(text, without_unknown_parts(right.pattern)) == (sign != "!=");
    }
    return status;
  }

  std::span<const ShellTestWord> words_;
  const std::function<bool(const std::string&)>& is_set_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

ShellExitStatus joint(ShellExitStatus a, ShellExitStatus b, bool ok, bool known) {
  if (known) return {.ok = ok};
  std::ranges::move(b.open, std::back_inserter(a.open));
  return {.ok = ok, .known = false, .open = std::move(a.open)};
}

}  // namespace

ShellExitStatus both(ShellExitStatus a, ShellExitStatus b) {
  const bool known = (a.known && !a.ok) || (b.known && !b.ok) || (a.known && b.known);
  const bool ok = a.ok && b.ok;
  return joint(std::move(a), std::move(b), ok, known);
}

ShellExitStatus either(ShellExitStatus a, ShellExitStatus b) {
  const bool known = (a.known && a.ok) || (b.known && b.ok) || (a.known && b.known);
  const bool ok = a.ok || b.ok;
  return joint(std::move(a), std::move(b), ok, known);
}

ShellExitStatus opposite(ShellExitStatus status) {
  status.ok = !status.ok;
  return status;
}

ShellExitStatus shell_test_outcome(std::span<const ShellTestWord> words,
                                   const std::function<bool(const std::string&)>& is_set) {
  return Test(words, is_set).status();
}

}  // namespace stepwright::launch_scripts
