#pragma once

#include <algorithm>
#include <string_view>

namespace stepwright {

/// Returns a text without the blanks (spaces, tabs, ends of lines) at its ends.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\f\v";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

}  // namespace stepwright
