#include "stepwright/report/page.h"

#include <nlohmann/json.hpp>

namespace stepwright::report {
namespace {

/// Placeholder for the content, between the tags of a script element that holds JSON.
constexpr std::string_view kPlace = "@CONTENT@";

/// Returns the content as JSON in which no text can end the script element or begin a comment.
std::string escaped(const nlohmann::ordered_json& content) {
  const std::string text =
      content.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

}  // namespace

std::string self_contained_report_page(const nlohmann::ordered_json& content) {
  const std::string_view page = empty_report_page();
  const std::size_t place = page.find(kPlace);
  std::string result(page.substr(0, place));
  result += escaped(content);
  result += page.substr(place + kPlace.size());
  return result;
}

}  // namespace stepwright::report
