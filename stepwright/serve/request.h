#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stepwright/serve/served_page.h"

namespace stepwright::serve {

/// The most bytes of a request's head; browsers send a tenth of that.
inline constexpr std::size_t kLongestHead = 16'384;

/// An HTTP answer, after which the connection is closed.
struct HttpAnswer {
  std::string head;  ///< Status line, header fields and the empty line; for an error also its text.
  /// The page or the icon, which the caller keeps alive; empty: the answer has only a head.
  std::string_view body;
};

/// Returns the answer to the bytes that a connection has sent so far; nullopt: the head of the
/// request is not complete. `GET /` and `HEAD /` return the page, gzip-compressed for browsers that
/// accept it, or 304 for a browser that already has it; `/favicon.ico` returns its icon. Other
/// paths are not found (404), other methods not allowed (405). A request for a host other than
/// localhost, 127.0.0.1 or [::1] (on any port) is misdirected (421), so that a web page cannot read
/// this one through a host name of its own. Anything that is no request, or is longer than
/// `kLongestHead`, is a bad request (400).
std::optional<HttpAnswer> http_answer(std::string_view said, const ServedPage& page);

/// Returns the answer to a request that was not complete in time (408).
HttpAnswer timeout_answer();

}  // namespace stepwright::serve
