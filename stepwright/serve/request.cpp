#include "stepwright/serve/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace stepwright::serve {
namespace {

constexpr std::string_view kEndOfLine = "\r\n";
constexpr std::string_view kOwnHosts[] = {"localhost", "127.0.0.1", "[::1]"};

/// The request line and the header fields of a request.
struct Request {
  std::string_view method;
  std::string_view target;
  std::string_view version;
  std::optional<std::string_view> host;
  bool takes_gzip = false;
  std::string_view known_tags;  ///< Entity tags of the browser's cached copies; empty: none.
};

constexpr std::string_view kNoStore = "Cache-Control: no-store\r\n";
/// Browsers may cache the page but must revalidate it, because another build serves another page at
/// the same address.
constexpr std::string_view kRevalidate = "Cache-Control: no-cache\r\nVary: Accept-Encoding\r\n";
constexpr std::string_view kForADay = "Cache-Control: max-age=86400\r\n";

/// Builds an answer; `more`: additional header lines.
HttpResponse answer(std::string_view status, std::string_view type, std::size_t length,
                    std::string_view more = kNoStore) {
  return {
      .head = fmt::format("HTTP/1.1 {}\r\nContent-Type: {}; charset=utf-8\r\nContent-Length: {}\r\n"
                          "{}X-Content-Type-Options: nosniff\r\n"
                          "Connection: close\r\n\r\n",
                          status, type, length, more),
      .body = {}};
}

/// Returns the page, compressed if the browser accepts that, or 304 if the browser already has it.
HttpResponse page_answer(const ServedPage& page, bool takes_gzip, std::string_view known_tags) {
  const std::string cached = fmt::format("ETag: {}\r\n{}", page.tag, kRevalidate);
  const std::string_view body = takes_gzip ? page.packed : page.text;
  if (known_tags.find(page.tag) != std::string_view::npos) {
    return answer("304 Not Modified", "text/html", body.size(), cached);
  }
  HttpResponse found = answer("200 OK", "text/html", body.size(),
                              takes_gzip ? "Content-Encoding: gzip\r\n" + cached : cached);
  found.body = body;
  return found;
}

HttpResponse icon_answer() {
  HttpResponse icon = answer("200 OK", "image/svg+xml", favicon().size(), kForADay);
  icon.body = favicon();
  return icon;
}

HttpResponse refusal(std::string_view status, std::string_view why = "") {
  const std::string text = fmt::format("{}{}{}\n", status, why.empty() ? "" : ": ", why);
  HttpResponse refused = answer(status, "text/plain", text.size());
  refused.head += text;
  return refused;
}

/// True for characters of methods and field names (RFC 9110, "token").
bool is_token(std::string_view word) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !word.empty() && std::ranges::all_of(word, [&](unsigned char c) {
    return std::isalnum(c) != 0 || kMarks.find(static_cast<char>(c)) != std::string_view::npos;
  });
}

/// True for text without blanks and control characters.
bool is_visible(std::string_view word) {
  return !word.empty() &&
         std::ranges::all_of(word, [](unsigned char c) { return c > ' ' && c != 0x7f; });
}

bool equal_words(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

/// Removes the next line, which ends with CR LF, from a text and returns it.
std::string_view next_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find(kEndOfLine));
  text.remove_prefix(std::min(text.size(), line.size() + kEndOfLine.size()));
  return line;
}

/// Reads "METHOD TARGET HTTP/1.x" with single blanks between; false: the line is something else.
bool read_line(std::string_view line, Request& request) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return false;
  request.method = line.substr(0, first);
  request.target = line.substr(first + 1, last - first - 1);
  request.version = line.substr(last + 1);
  return is_token(request.method) && is_visible(request.target) &&
         (request.version == "HTTP/1.1" || request.version == "HTTP/1.0");
}

/// Returns a value without the spaces and tabs around it (RFC 9110, section 5.6.3, OWS).
std::string_view without_optional_space(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return text.substr(0, text.find_last_not_of(" \t") + 1);
}

/// True if a list such as "gzip, deflate, br" contains gzip with a weight other than 0.
bool accepts_gzip(std::string_view value) {
  while (!value.empty()) {
    const std::string_view entry = value.substr(0, value.find(','));
    value.remove_prefix(std::min(value.size(), entry.size() + 1));
    const std::size_t end = entry.find(';');
    if (!equal_words(without_optional_space(entry.substr(0, end)), "gzip")) continue;
    const std::string_view weight = end == std::string_view::npos
                                        ? std::string_view()
                                        : without_optional_space(entry.substr(end + 1));
    return weight.substr(0, 2) != "q=" ||
           weight.find_first_of("123456789") != std::string_view::npos;
  }
  return false;
}

/// Reads a field "Name: value"; false: the line is no field, or a second Host field.
bool read_field(std::string_view line, Request& request) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) return false;
  const std::string_view value = without_optional_space(line.substr(colon + 1));
  if (std::ranges::any_of(value, [](unsigned char c) { return c < ' ' && c != '\t'; })) {
    return false;
  }
  const std::string_view name = line.substr(0, colon);
  if (equal_words(name, "accept-encoding")) request.takes_gzip = accepts_gzip(value);
  if (equal_words(name, "if-none-match")) request.known_tags = value;
  if (!equal_words(name, "host")) return true;
  if (request.host) return false;
  request.host = value;
  return true;
}

/// Reads a request's head without its empty line; nullopt: it is no request.
std::optional<Request> read_request(std::string_view head) {
  Request request;
  if (!read_line(next_line(head), request)) return std::nullopt;
  while (!head.empty()) {
    if (!read_field(next_line(head), request)) return std::nullopt;
  }
  if (!request.host && request.version == "HTTP/1.1") return std::nullopt;
  return request;
}

/// True if a host, with or without a port, is a name of this machine's loopback interface.
bool is_own(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  if (colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos) {
    const std::string_view port = host.substr(colon + 1);
    if (port.find_first_not_of("0123456789") != std::string_view::npos) return false;
    host = host.substr(0, colon);
  }
  return std::ranges::any_of(kOwnHosts, [&](auto own) { return equal_words(own, host); });
}

}  // namespace

std::optional<HttpResponse> http_response(std::string_view said, const ServedPage& page) {
  const HttpResponse bad = refusal("400 Bad Request");
  // TLS and other protocols do not begin with a letter; they are refused without waiting for a
  // line.
  if (!said.empty() && std::isalpha(static_cast<unsigned char>(said.front())) == 0) return bad;
  const std::size_t end = said.find("\r\n\r\n");
  if (end == std::string_view::npos) {
    const bool other_lines = said.find("\n\n") != std::string_view::npos;
    if (other_lines || said.size() > kMaxRequestHeadBytes) return bad;
    return std::nullopt;
  }
  const std::optional<Request> request = read_request(said.substr(0, end));
  if (!request || end > kMaxRequestHeadBytes) return bad;
  if (request->host && !is_own(*request->host)) {
    return refusal("421 Misdirected Request",
                   "this server answers only requests to localhost, 127.0.0.1 and [::1]");
  }
  if (request->method != "GET" && request->method != "HEAD") {
    return refusal("405 Method Not Allowed");
  }
  const std::string_view path = request->target.substr(0, request->target.find('?'));
  if (path != "/" && path != "/favicon.ico") return refusal("404 Not Found");
  HttpResponse found =
      path == "/" ? page_answer(page, request->takes_gzip, request->known_tags) : icon_answer();
  if (request->method == "HEAD") found.body = {};
  return found;
}

HttpResponse http_timeout_response() { return refusal("408 Request Timeout"); }

}  // namespace stepwright::serve
