#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stepwright::serve {

/// Longest head of a request; browsers send a tenth of it.
inline constexpr std::size_t kLongestHead = 16'384;

/// The answer to what a connection has said so far, to be followed by its end: nothing while the
/// head of the request is not complete. What is no request, or is longer than `kLongestHead`, is
/// answered with 400.
std::optional<std::string> http_answer(std::string_view said, std::string_view page);

}  // namespace stepwright::serve
