#include "stepwright/serve/request.h"

#include <fmt/format.h>

#include <algorithm>

namespace stepwright::serve {
namespace {

constexpr std::string_view kEndOfHead = "\r\n\r\n";

std::string response(std::string_view status, std::string_view type, std::string_view body,
                     bool with_body = true) {
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: {}; charset=utf-8\r\nContent-Length: {}\r\n"
      "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n{}",
      status, type, body.size(), with_body ? body : "");
}

std::string refusal(std::string_view status) {
  return response(status, "text/plain", fmt::format("{}\n", status));
}

/// Takes a word off a line.
std::string_view next_word(std::string_view& line) {
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(line.size(), word.size() + 1));
  return word;
}

}  // namespace

std::optional<std::string> http_answer(std::string_view said, std::string_view page) {
  const std::size_t end = said.find(kEndOfHead);
  if (end == std::string_view::npos && said.size() <= kLongestHead) return std::nullopt;
  std::string_view line = said.substr(0, said.find("\r\n"));
  const std::string_view method = next_word(line);
  const std::string_view target = next_word(line);
  if (end == std::string_view::npos || !line.starts_with("HTTP/1.")) {
    return refusal("400 Bad Request");
  }
  if (method != "GET" && method != "HEAD") return refusal("405 Method Not Allowed");
  if (target.substr(0, target.find('?')) != "/") return refusal("404 Not Found");
  return response("200 OK", "text/html", page, method == "GET");
}

}  // namespace stepwright::serve
