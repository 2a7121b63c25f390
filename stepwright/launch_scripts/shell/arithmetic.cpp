#include "stepwright/launch_scripts/shell/arithmetic.h"

#include <array>
#include <cctype>
#include <charconv>
#include <limits>

#include "stepwright/launch_scripts/shell/syntax.h"

namespace stepwright::launch_scripts {
namespace {

using Number = std::optional<std::int64_t>;

struct Sign {
  std::string_view text;
  int rank;  ///< Precedence of the operator: a higher rank binds tighter.
};

/// Operators; a longer one comes before any that it begins with.
constexpr std::array<Sign, 19> kSigns = {{{"**", 11},
                                          {"<<", 8},
                                          {">>", 8},
                                          {"<=", 7},
                                          {">=", 7},
                                          {"==", 6},
                                          {"!=", 6},
                                          {"&&", 2},
                                          {"||", 1},
                                          {"<", 7},
                                          {">", 7},
                                          {"&", 5},
                                          {"^", 4},
                                          {"|", 3},
                                          {"+", 9},
                                          {"-", 9},
                                          {"*", 10},
                                          {"/", 10},
                                          {"%", 10}}};

Number power(std::int64_t base, std::int64_t exponent) {
  std::int64_t result = 1;
  if (exponent < 0 || exponent > 63) return std::nullopt;
  for (std::int64_t i = 0; i < exponent; ++i) {
    if (__builtin_mul_overflow(result, base, &result)) return std::nullopt;
  }
  return result;
}

Number divided(std::int64_t a, std::int64_t b, bool rest) {
  if (b == 0 || (a == std::numeric_limits<std::int64_t>::min() && b == -1)) return std::nullopt;
  return rest ? a % b : a / b;
}

Number compared(std::string_view sign, std::int64_t a, std::int64_t b) {
  if (sign == "==") return a == b ? 1 : 0;
  if (sign == "!=") return a != b ? 1 : 0;
  if (sign == "<=") return a <= b ? 1 : 0;
  if (sign == ">=") return a >= b ? 1 : 0;
  if (sign == "<") return a < b ? 1 : 0;
  if (sign == ">") return a > b ? 1 : 0;
  if (sign == "&&") return a != 0 && b != 0 ? 1 : 0;
  if (sign == "||") return a != 0 || b != 0 ? 1 : 0;
  return std::nullopt;
}

Number applied(std::string_view sign, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (sign == "+") return __builtin_add_overflow(a, b, &result) ? Number() : result;
  if (sign == "-") return __builtin_sub_overflow(a, b, &result) ? Number() : result;
  if (sign == "*") return __builtin_mul_overflow(a, b, &result) ? Number() : result;
  if (sign == "/" || sign == "%") return divided(a, b, sign == "%");
  if (sign == "**") return power(a, b);
  if (sign == "&") return a & b;
  if (sign == "|") return a | b;
  if (sign == "^") return a ^ b;
  if (sign == "<<" || sign == ">>") {
    if (b < 0 || b > 62 || a < 0) return std::nullopt;
    if (sign == ">>") return a >> b;
    return a > (std::numeric_limits<std::int64_t>::max() >> b) ? Number() : Number(a << b);
  }
  return compared(sign, a, b);
}

class Arithmetic {
 public:
  Arithmetic(std::string_view text, const ShellArithmeticVariables& names, int& atoms)
      : text_(text), names_(names), atoms_(atoms) {}

  std::optional<ShellArithmeticResult> value() {
    skip();
    if (at_ == text_.size()) return ShellArithmeticResult{};
    Number last = whole();
    while (last && take(",")) last = whole();
    skip();
    if (!last || at_ != text_.size()) return std::nullopt;
    return ShellArithmeticResult{*last, known_};
  }

 private:
  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  [[nodiscard]] bool take(std::string_view sign) {
    skip();
    const bool here = text_.substr(at_).starts_with(sign);
    if (here) at_ += sign.size();
    return here;
  }

  /// Evaluates an expression, including `a ? b : c`.
  Number whole() {
    if (++depth_ > kDeepest) return std::nullopt;
    Number value = joined(1);
    if (value && take("?")) {
      const Number yes = whole();
      if (!yes || !take(":")) return std::nullopt;
      const Number no = whole();
      if (!no) return std::nullopt;
      value = *value != 0 ? yes : no;
    }
    --depth_;
    return value;
  }

  Number joined(int lowest) {
    Number left = atom();
    while (left) {
      skip();
      const Sign* sign = sign_here();
      if (sign == nullptr || sign->rank < lowest) break;
      at_ += sign->text.size();
      const Number right = joined(sign->text == "**" ? sign->rank : sign->rank + 1);
      if (!right) return std::nullopt;
      left = applied(sign->text, *left, *right);
    }
    return left;
  }

  [[nodiscard]] const Sign* sign_here() const {
    for (const Sign& sign : kSigns) {
      if (text_.substr(at_).starts_with(sign.text)) return &sign;
    }
    return nullptr;
  }

  Number atom() {
    if (++depth_ > kDeepest || --atoms_ < 0) return std::nullopt;
    const Number value = unguarded_atom();
    --depth_;
    return value;
  }

  Number unguarded_atom() {
    if (take("(")) {
      const Number inner = whole();
      return inner && take(")") ? inner : std::nullopt;
    }
    if (take("++") || take("--")) return stepped_before(text_[at_ - 1] == '+' ? 1 : -1);
    if (take("!")) {
      const Number inner = atom();
      return inner ? Number(*inner == 0 ? 1 : 0) : std::nullopt;
    }
    if (take("-")) {
      const Number inner = atom();
      return inner ? applied("-", 0, *inner) : std::nullopt;
    }
    if (take("~")) {
      const Number inner = atom();
      return inner ? Number(~*inner) : std::nullopt;
    }
    if (take("+")) return atom();
    skip();
    if (at_ < text_.size() && text_[at_] == kUnknownMarkBegin) return open_place();
    const std::string name = word();
    return is_shell_name(name) ? variable(name) : number_of(name);
  }

  Number open_place() {
    known_ = false;
    while (at_ < text_.size() && text_[at_] != kUnknownMarkEnd) ++at_;
    ++at_;
    return 0;
  }

  std::string word() {
    std::string name;
    while (at_ < text_.size() && (is_shell_name_char(text_[at_]) || text_[at_] == '#')) {
      name += text_[at_++];
    }
    return name;
  }

  static Number number_of(std::string_view text) {
    int base = 10;
    if (const std::size_t mark = text.find('#'); mark != std::string_view::npos) {
      const std::string_view digits = text.substr(0, mark);
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), base);
      if (error != std::errc() || base < 2 || base > 36) return std::nullopt;
      text.remove_prefix(mark + 1);
    } else if (text.starts_with("0x") || text.starts_with("0X")) {
      base = 16;
      text.remove_prefix(2);
    } else if (text.size() > 1 && text.starts_with('0')) {
      base = 8;
      text.remove_prefix(1);
    }
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
  }

  /// Returns the value of a variable, which can itself be an expression.
  Number held(const std::string& name) {
    const std::string text = names_.value(name);
    if (!is_fully_known_script_text(text)) known_ = false;
    if (++depth_ > kDeepest) return std::nullopt;
    const std::string plain = without_unknown_parts(text);
    Arithmetic inner(plain, names_, atoms_);
    inner.depth_ = depth_;
    const auto result = inner.value();
    --depth_;
    if (!result) return std::nullopt;
    known_ = known_ && result->known;
    return result->value;
  }

  Number stepped_before(std::int64_t step) {
    skip();
    const std::string name = word();
    const Number old = is_shell_name(name) ? held(name) : std::nullopt;
    const Number fresh = old ? applied("+", *old, step) : std::nullopt;
    if (fresh) names_.set(name, *fresh);
    return fresh;
  }

  Number variable(const std::string& name) {
    static constexpr std::array<std::string_view, 10> kSets = {
        "+=", "-=", "*=", "/=", "%=", "&=", "|=", "<<=", ">>=", "^="};
    for (const std::string_view set : kSets) {
      if (!take(set)) continue;
      const Number old = held(name);
      const Number by = whole();
      const Number fresh =
          old && by ? applied(set.substr(0, set.size() - 1), *old, *by) : std::nullopt;
      if (fresh) names_.set(name, *fresh);
      return fresh;
    }
    skip();
    if (text_.substr(at_).starts_with('=') && !text_.substr(at_).starts_with("==")) {
      ++at_;
      const Number fresh = whole();
      if (fresh) names_.set(name, *fresh);
      return fresh;
    }
    const Number old = held(name);
    const bool up = text_.substr(at_).starts_with("++");
    if (old && (up || text_.substr(at_).starts_with("--"))) {
      at_ += 2;
      const Number fresh = applied("+", *old, up ? 1 : -1);
      if (!fresh) return std::nullopt;
      names_.set(name, *fresh);
    }
    return old;
  }

  static constexpr int kDeepest = 100;
  std::string_view text_;
  const ShellArithmeticVariables& names_;
  int& atoms_;  ///< Operands that may still be read, including those in the values of variables.
  std::size_t at_ = 0;
  int depth_ = 0;
  bool known_ = true;
};

}  // namespace

std::optional<ShellArithmeticResult> shell_arithmetic_value(std::string_view text,
                                                            const ShellArithmeticVariables& names) {
  int atoms = 10'000;
  return Arithmetic(text, names, atoms).value();
}

}  // namespace stepwright::launch_scripts
