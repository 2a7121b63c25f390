#include "stepwright/mcp/short_text.h"

#include <fmt/format.h>

#include <cstddef>
#include <nlohmann/json.hpp>

namespace stepwright::mcp {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLength = 3000;

/// How much of an answer is kept.
struct Extent {
  std::size_t entries = 0;  ///< Entries kept in each list.
  int depth = 0;            ///< Levels of lists and mappings that are kept.
};

/// From the largest to the smallest; the first one that gives a short enough text is used.
constexpr Extent kExtents[] = {{10, 8}, {5, 5}, {5, 3}, {3, 3}, {2, 2}, {1, 2}, {0, 1}};

Json shortened(const Json& value, const Extent& extent) {
  if (!value.is_structured()) return value;
  if (extent.depth == 0) {
    return fmt::format("... {} {}", value.size(), value.is_array() ? "entries" : "keys");
  }
  const Extent inner{.entries = extent.entries, .depth = extent.depth - 1};
  Json kept = value.is_array() ? Json::array() : Json::object();
  if (value.is_object()) {
    for (const auto& [key, each] : value.items()) kept[key] = shortened(each, inner);
    return kept;
  }
  for (const Json& each : value) {
    if (kept.size() == extent.entries) {
      kept.push_back(fmt::format("... {} more", value.size() - kept.size()));
      break;
    }
    kept.push_back(shortened(each, inner));
  }
  return kept;
}

}  // namespace

std::string json_answer_for_ai_agent(const Json& answer) {
  std::string text;
  for (const Extent& extent : kExtents) {
    text = shortened(answer, extent).dump(-1, ' ', false, Json::error_handler_t::replace);
    if (text.size() <= kLength) break;
  }
  return text;
}

}  // namespace stepwright::mcp
