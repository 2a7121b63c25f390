#include "stepwright/cli/unused_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "stepwright/core/table.h"

namespace stepwright::cli {
namespace {

/// The most rows shown for each file.
constexpr std::size_t kShownNames = 20;
/// The most characters of a kernel's name, since some are long templates.
constexpr std::size_t kShownLetters = 60;

std::vector<const fit::UnusedByName::value_type*> longest_first(const fit::UnusedByName& unused) {
  std::vector<const fit::UnusedByName::value_type*> rows;
  for (const auto& row : unused) rows.push_back(&row);
  std::ranges::stable_sort(rows, std::ranges::greater(),
                           [](const auto* row) { return row->second.seconds; });
  return rows;
}

std::string shortened(const std::string& name) {
  return name.size() <= kShownLetters ? name : name.substr(0, kShownLetters) + "...";
}

}  // namespace

std::string unused_kernels_text(const UnusedByFile& unused) {
  std::string text;
  for (const auto& [file, names] : unused) {
    const auto rows = longest_first(names);
    if (rows.empty()) continue;
    TextTable table{.columns = {{"not used"},
                                {"why"},
                                {"kernels", ColumnAlignment::kRight},
                                {"ms", ColumnAlignment::kRight}},
                    .rows = {}};
    for (std::size_t i = 0; i < std::min(rows.size(), kShownNames); ++i) {
      const auto& [name, kernels] = *rows[i];
      table.rows.push_back({shortened(name.first), name.second, fmt::format("{}", kernels.kernels),
                            fmt::format("{:.3f}", 1e3 * kernels.seconds)});
    }
    text += fmt::format("\n{}: kernels that cannot be used as samples\n\n{}", file,
                        format_text_table(table));
    if (rows.size() > kShownNames) text += fmt::format("and {} more\n", rows.size() - kShownNames);
  }
  return text;
}

nlohmann::ordered_json unused_kernels_json(const UnusedByFile& unused) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& [file, names] : unused) {
    for (const auto* row : longest_first(names)) {
      const auto& [name, kernels] = *row;
      list.push_back({{"file", file},
                      {"name", name.first},
                      {"reason", name.second},
                      {"kernels", kernels.kernels},
                      {"seconds", kernels.seconds}});
    }
  }
  return list;
}

}  // namespace stepwright::cli
