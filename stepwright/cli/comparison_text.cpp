#include "stepwright/cli/comparison_text.h"

#include <fmt/format.h>

#include "stepwright/cli/log_text.h"
#include "stepwright/core/format.h"
#include "stepwright/core/table.h"
#include "stepwright/logs/match_json.h"

namespace stepwright {
namespace {

std::string scheme_text(const LogComparison& comparison) {
  Table table{.columns = {{"scheme"},
                          {"operation"},
                          {"group"},
                          {"ranks", Align::kRight},
                          {"predicted", Align::kRight},
                          {"logged", Align::kRight},
                          {"predicted bytes", Align::kRight},
                          {"logged bytes", Align::kRight},
                          {"time", Align::kRight},
                          {"exposed", Align::kRight}},
              .rows = {}};
  for (const SchemeSum& sum : by_scheme(comparison)) {
    const MatchedCalls& row = sum.calls;
    table.rows.push_back({std::string(name_of(kSchemeNames, row.scheme)),
                          std::string(name_of(kLogOperationNames, row.operation)), row.group,
                          row.group_size > 0 ? format_count(row.group_size) : "-",
                          format_count(row.predicted), format_count(row.logged),
                          format_bytes(static_cast<double>(sum.predicted_bytes)),
                          format_bytes(static_cast<double>(sum.logged_bytes)),
                          row.timed > 0 ? format_time(row.seconds) : "-",
                          row.timed > 0 ? format_time(row.exposed_s) : "-"});
  }
  return to_text(table);
}

}  // namespace

std::string comparison_text(const LogComparison& comparison, const Log& log) {
  std::string text =
      fmt::format("Calls of {} and {}, predicted and logged\n\n", counted(comparison.ranks, "rank"),
                  counted(comparison.steps, "step"));
  if (!comparison.rows.empty()) text += scheme_text(comparison) + "\n";
  for (const std::string& difference : comparison.differences) text += difference + "\n";
  for (const std::string& remark : comparison.remarks) text += "(" + remark + ")\n";
  text += sources_text(log);
  return text + fmt::format("{} calls matched; {} only predicted, {} only logged, {} bytes apart\n",
                            comparison.matched, comparison.predicted_only, comparison.logged_only,
                            comparison.byte_difference);
}

}  // namespace stepwright
