#pragma once

#include <span>
#include <string>
#include <string_view>

namespace stepwright::capture {

/// Returns a word as a shell reads it back: as it is where it has no special character, otherwise
/// in single quotes.
std::string shell_quoted(std::string_view word);

/// Returns words, each as `shell_quoted`, with blanks between them.
std::string shell_quoted(std::span<const std::string> words);

/// Returns a text as valid UTF-8: each byte that is none becomes U+FFFD. Sets `replaced` if a byte
/// was replaced, otherwise leaves it.
std::string valid_utf8(std::string_view text, bool& replaced);

}  // namespace stepwright::capture
