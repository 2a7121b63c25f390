#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stepwright/serve/served_page.h"

namespace stepwright::serve {

/// Longest head of a request; browsers send a tenth of it.
inline constexpr std::size_t kLongestHead = 16'384;

/// An answer over HTTP, which the end of the connection follows.
struct HttpAnswer {
  std::string head;       ///< Status, fields and the empty line; of a refusal its text, too.
  std::string_view body;  ///< The page or the icon, which live elsewhere; empty: the head is all.
};

/// Returns the answer to what a connection has said so far; nullopt while the head of the request
/// is not complete. `GET /` and `HEAD /` have the page, in gzip's format for browsers that accept
/// it, or 304 for one that has it; `/favicon.ico` is its icon; other paths are not found (404),
/// other methods not allowed (405). A request for another host than localhost, 127.0.0.1 or [::1],
/// on any port, is misdirected (421), so that no page of the network reads this one by a name of
/// its own. What is no request, or is longer than `kLongestHead`, is bad (400).
std::optional<HttpAnswer> http_answer(std::string_view said, const ServedPage& page);

/// Returns the answer to a request that did not come to its end in time (408).
HttpAnswer late_answer();

}  // namespace stepwright::serve
