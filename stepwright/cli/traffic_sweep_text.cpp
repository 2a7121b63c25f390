#include "stepwright/cli/traffic_sweep_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "stepwright/core/format.h"
#include "stepwright/core/table.h"

namespace stepwright::cli {

using answers::TrafficSweepPoint;

std::string traffic_sweep_text(const answers::TrafficSweep& sweep) {
  std::set<step::ParallelismScheme> schemes;
  double most = 0;
  for (const TrafficSweepPoint& point : sweep.points) {
    for (const auto& [scheme, volume] : point.schemes) schemes.insert(scheme);
    if (point.refused.empty()) most = std::max(most, sent_bytes_per_step_token(point));
  }
  TextTable table{.columns = {{sweep.field, ColumnAlignment::kRight}}, .rows = {}};
  for (const step::ParallelismScheme scheme : schemes) {
    table.columns.push_back(
        {std::string(name_of(step::kSchemeNames, scheme)), ColumnAlignment::kRight});
  }
  for (const char* title : {"calls", "step", "tokens/s", "sent per token"}) {
    table.columns.push_back({title, ColumnAlignment::kRight});
  }
  table.columns.push_back({""});
  std::string refused;
  for (const TrafficSweepPoint& point : sweep.points) {
    if (!point.refused.empty()) {
      refused += fmt::format("{}={}: {}\n", sweep.field, point.value, point.refused);
      continue;
    }
    std::vector<std::string>& row = table.rows.emplace_back();
    row.push_back(point.value);
    std::int64_t calls = 0;
    for (const step::ParallelismScheme scheme : schemes) {
      const auto volume = point.schemes.find(scheme);
      const bool none = volume == point.schemes.end();
      row.push_back(none ? "-" : format_bytes(volume->second.sent_bytes));
      if (!none) calls += volume->second.count;
    }
    const double bytes = sent_bytes_per_step_token(point);
    row.push_back(format_count(calls));
    row.push_back(format_time(point.step_time_s));
    row.push_back(format_number(point.tokens_per_s));
    row.push_back(format_bytes(bytes));
    row.push_back(format_chart_bar(bytes, most));
  }
  return fmt::format("\nSent by all ranks in a step, for each {}\n\n{}{}", sweep.field,
                     format_text_table(table), refused);
}

}  // namespace stepwright::cli
