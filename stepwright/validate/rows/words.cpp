#include "stepwright/validate/rows/words.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace stepwright {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kSpaces = " \t";

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

std::optional<std::int64_t> number_at(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{}) return std::nullopt;
  return value;
}

}  // namespace

std::optional<NumberInText> first_number(std::string_view text) {
  for (std::size_t begin = text.find_first_of(kDigits); begin != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_not_of(kDigits, begin), text.size());
    if (const auto value = number_at(text.substr(begin))) {
      const std::size_t last = text.substr(0, begin).find_last_not_of(kSpaces);
      const std::size_t next = std::min(text.find_first_not_of(kSpaces, end), text.size());
      return NumberInText{*value, text.substr(0, last + 1), text.substr(next)};
    }
    begin = text.find_first_of(kDigits, end);
  }
  return std::nullopt;
}

Words::Words(std::string_view text) : text_(text) {
  std::ranges::transform(text_, text_.begin(), [](unsigned char c) { return std::tolower(c); });
}

std::optional<bool> Words::flag(std::string_view key) const {
  for (std::size_t at = text_.find(key); at != std::string::npos; at = text_.find(key, at + 1)) {
    const std::string_view rest = std::string_view(text_).substr(at + key.size());
    if (!rest.starts_with('=')) continue;
    const std::string_view value = rest.substr(1, rest.find_first_of(";, ") - 1);
    return value == "true" || value == "1" || value == "on" || value == "y";
  }
  return std::nullopt;
}

std::optional<std::int64_t> Words::number_after(std::string_view before) const {
  for (std::size_t at = text_.find(before); at != std::string::npos;
       at = text_.find(before, at + 1)) {
    std::string_view rest = std::string_view(text_).substr(at + before.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    if (const auto value = number_at(rest); value && *value >= 0) return value;
  }
  return std::nullopt;
}

std::optional<std::int64_t> Words::number_before(std::string_view after) const {
  const std::size_t at = text_.find(after);
  if (at == std::string::npos || at == 0) return std::nullopt;
  std::size_t end = at;
  while (end > 0 && text_[end - 1] == ' ') --end;
  std::size_t begin = end;
  while (begin > 0 && is_digit(text_[begin - 1])) --begin;
  return begin == end ? std::nullopt
                      : number_at(std::string_view(text_).substr(begin, end - begin));
}

}  // namespace stepwright
