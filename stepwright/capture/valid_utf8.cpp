#include "stepwright/capture/shell_quoted.h"

#include <cstddef>

#include "stepwright/core/utf8.h"

namespace stepwright::capture {

std::string shell_quoted(std::string_view word) {
  static constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(word);
  }
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string shell_quoted(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + shell_quoted(word);
  return text;
}

std::string valid_utf8(std::string_view text, bool& replaced) {
  std::string valid;
  while (true) {
    const std::size_t bad = find_bad_utf8(text);
    if (bad == std::string_view::npos) return valid + std::string(text);
    valid += text.substr(0, bad);
    valid += "\xEF\xBF\xBD";
    text.remove_prefix(bad + 1);
    replaced = true;
  }
}

}  // namespace stepwright::capture
