#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stepwright {

/// A whole number in a text.
struct NumberInText {
  std::int64_t value = 0;
  std::string_view before;  ///< All before it, without the spaces right before it.
  std::string_view after;   ///< All behind it, without the spaces right behind it.
};

/// The first run of digits that is a number below 2^63; nothing when there is none.
std::optional<NumberInText> first_number(std::string_view text);

/// A remark in lower case, for looking for words in it: sources spell freely.
class Words {
 public:
  explicit Words(std::string_view text);

  /// Any of these stands somewhere in it (lower case).
  template <class... Parts>
  [[nodiscard]] bool has(const Parts&... parts) const {
    return ((text_.find(std::string_view(parts)) != std::string::npos) || ...);
  }
  /// `key=true`, `key=1`, `key=on` -> true; another value -> false; absent -> nothing.
  [[nodiscard]] std::optional<bool> flag(std::string_view key) const;
  /// The first whole number that stands right behind `before` (spaces between are passed over).
  [[nodiscard]] std::optional<std::int64_t> number_after(std::string_view before) const;
  /// The whole number right before the first `after` (spaces between are passed over).
  [[nodiscard]] std::optional<std::int64_t> number_before(std::string_view after) const;
  [[nodiscard]] bool empty() const { return text_.empty(); }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace stepwright
