#pragma once

#include <string>
#include <string_view>

namespace stepwright::capture {

/// Returns a text as valid UTF-8: each byte that is none becomes U+FFFD. Sets `replaced` if a byte
/// was replaced, otherwise leaves it.
std::string valid_utf8(std::string_view text, bool& replaced);

}  // namespace stepwright::capture
