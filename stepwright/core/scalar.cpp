#include "stepwright/core/scalar.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

#include "stepwright/core/error.h"

namespace stepwright {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// The parts of a number: digits before and after the point, and the exponent.
struct Decimal {
  bool negative = false;
  std::string_view whole;
  std::string_view fraction;
  std::int64_t exponent = 0;
};

std::string_view take_digits(std::string_view& rest) {
  std::size_t length = 0;
  while (length < rest.size() && is_digit(rest[length])) ++length;
  const std::string_view digits = rest.substr(0, length);
  rest.remove_prefix(length);
  return digits;
}

bool take_sign(std::string_view& rest) {
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  return negative;
}

/// Reads the exponent after `e`; exponents beyond a trillion are clamped to it.
std::optional<std::int64_t> take_exponent(std::string_view& rest) {
  rest.remove_prefix(1);
  const bool negative = take_sign(rest);
  const std::string_view digits = take_digits(rest);
  if (digits.empty()) return std::nullopt;
  constexpr std::int64_t kCeiling = 1'000'000'000'000;
  std::int64_t size = 0;
  for (const char digit : digits) size = std::min(kCeiling, size * 10 + (digit - '0'));
  return negative ? -size : size;
}

std::optional<Decimal> take_apart(std::string_view word) {
  Decimal parts;
  parts.negative = take_sign(word);
  parts.whole = take_digits(word);
  if (parts.whole.size() > 1 && parts.whole[0] == '0') return std::nullopt;
  if (word.starts_with('.')) {
    word.remove_prefix(1);
    parts.fraction = take_digits(word);
  }
  if (parts.whole.empty() && parts.fraction.empty()) return std::nullopt;
  if (word.starts_with('e') || word.starts_with('E')) {
    const std::optional<std::int64_t> exponent = take_exponent(word);
    if (!exponent) return std::nullopt;
    parts.exponent = *exponent;
  }
  if (!word.empty()) return std::nullopt;
  return parts;
}

/// True for words that YAML 1.1 readers take for truth values or numbers.
bool is_reserved(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return is_letter(c) ? static_cast<char>(c | 0x20) : c; });
  static constexpr std::string_view kReserved[] = {"y",    "n",     "yes",  "no",  "on", "off",
                                                   "true", "false", "null", "nan", "inf"};
  return std::ranges::find(kReserved, lower) != std::end(kReserved);
}

/// True if a text that begins with a digit is a word for every YAML reader: `1f1b` is; `0x1f`,
/// `1_000`, `1e5` and `2024-01-01` are not.
bool digits_make_a_word(std::string_view text) {
  if (text[0] == '0') return false;
  return std::ranges::any_of(text, [](char c) {
    return is_letter(c) && std::string_view("eEoObB").find(c) == std::string_view::npos;
  });
}

}  // namespace

bool is_number(std::string_view word) { return take_apart(word).has_value(); }

std::optional<bool> parse_boolean_word(std::string_view word) {
  if (word == "true" || word == "True" || word == "TRUE") return true;
  if (word == "false" || word == "False" || word == "FALSE") return false;
  return std::nullopt;
}

bool is_null_word(std::string_view word) {
  return word.empty() || word == "~" || word == "null" || word == "Null" || word == "NULL";
}

bool is_non_text_scalar(std::string_view word) {
  return is_null_word(word) || parse_boolean_word(word).has_value() || is_number(word);
}

bool needs_no_yaml_quotes(std::string_view text) {
  if (text.empty() || text.size() > 200 || text.back() == ' ') return false;
  const bool plain = std::ranges::all_of(text, [](char c) {
    return is_digit(c) || is_letter(c) ||
           std::string_view("_-./+ ").find(c) != std::string_view::npos;
  });
  if (!plain || is_reserved(text)) return false;
  if (is_digit(text[0])) return digits_make_a_word(text);
  return is_letter(text[0]) || text[0] == '_' || text[0] == '/';
}

IntegerParseResult read_integer(std::string_view word) {
  using Status = IntegerParseResult::IntegerParseStatus;
  const std::optional<Decimal> parts = take_apart(word);
  if (!parts) return {};
  // The value is digits * 10^shift; zeros at both ends are removed.
  std::string digits = std::string(parts->whole) + std::string(parts->fraction);
  std::int64_t shift = parts->exponent - static_cast<std::int64_t>(parts->fraction.size());
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.empty()) return {Status::kGood, 0};
  const std::size_t kept = digits.find_last_not_of('0') + 1;
  shift += static_cast<std::int64_t>(digits.size() - kept);
  digits.resize(kept);
  if (shift < 0) return {Status::kNotIntegral};
  if (shift > 19 || digits.size() > 19) return {Status::kTooLarge};
  digits.append(static_cast<std::size_t>(shift), '0');
  if (parts->negative) digits.insert(0, 1, '-');
  std::int64_t value = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (read.ec != std::errc()) return {Status::kTooLarge};
  return {Status::kGood, value};
}

std::optional<double> read_double(std::string_view word) {
  if (!is_number(word)) return std::nullopt;
  if (word.starts_with('+')) word.remove_prefix(1);
  double value = 0;
  const auto read = std::from_chars(word.data(), word.data() + word.size(), value);
  if (read.ec != std::errc() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string number_text(double number) {
  if (!std::isfinite(number)) fail_input("a number to be written must be finite");
  char buffer[32];
  const auto written = std::to_chars(buffer, buffer + sizeof buffer, number);
  return {buffer, written.ptr};
}

}  // namespace stepwright
