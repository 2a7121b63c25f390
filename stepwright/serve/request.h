#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stepwright/serve/served_page.h"

namespace stepwright::serve {

/// The most bytes of an HTTP request's head; browsers send about a tenth of that.
inline constexpr std::size_t kMaxRequestHeadBytes = 16'384;

/// An HTTP response, after which the connection is closed.
struct HttpResponse {
  /// Status line, header fields and the empty line; for an error also the text of the response.
  std::string head;
  /// Body of the response: the page or the icon, which the caller keeps alive; empty: none.
  std::string_view body;
};

/// Returns the response to the bytes received so far; nullopt: the request's head is incomplete.
/// `GET /` and `HEAD /` return the page (gzip if accepted; 304 if unchanged), `/favicon.ico` the
/// icon; other paths get 404, other methods 405, malformed requests 400. Hosts other than localhost
/// get 421, so that another web page cannot read this one through a host name of its own.
std::optional<HttpResponse> http_response(std::string_view said, const ServedPage& page);

/// Returns the HTTP response (408) to a request that was not complete in time.
HttpResponse http_timeout_response();

}  // namespace stepwright::serve
