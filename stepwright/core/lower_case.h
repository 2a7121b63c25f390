#pragma once

#include <string>
#include <string_view>

namespace stepwright {

/// Returns a text with the letters A to Z in lower case; all other bytes are unchanged.
inline std::string to_lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

}  // namespace stepwright
