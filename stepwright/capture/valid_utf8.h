#pragma once

#include <string>
#include <string_view>

namespace stepwright::capture {

/// Returns a text as valid UTF-8: each invalid byte becomes U+FFFD. Sets `replaced` to true if a
/// byte was replaced, else does not change it.
std::string replace_invalid_utf8(std::string_view text, bool& replaced);

}  // namespace stepwright::capture
