#include "stepwright/cli/comparison_text.h"

#include <fmt/format.h>

#include "stepwright/cli/log_text.h"
#include "stepwright/core/format.h"
#include "stepwright/core/table.h"
#include "stepwright/logs/match_json.h"

namespace stepwright::cli {
namespace {

std::string scheme_text(const logs::LogPlanComparison& comparison) {
  TextTable table{.columns = {{"parallelism"},
                              {"operation"},
                              {"group"},
                              {"ranks", ColumnAlignment::kRight},
                              {"calls planned", ColumnAlignment::kRight},
                              {"logged", ColumnAlignment::kRight},
                              {"payload planned", ColumnAlignment::kRight},
                              {"logged payload", ColumnAlignment::kRight},
                              {"time", ColumnAlignment::kRight},
                              {"transfer", ColumnAlignment::kRight},
                              {"predicted", ColumnAlignment::kRight},
                              {"exposed", ColumnAlignment::kRight}},
                  .rows = {}};
  for (const logs::SchemeCallTotals& sum : logs::by_scheme(comparison)) {
    const logs::PlannedAndLoggedCalls& row = sum.calls;
    const auto seconds = [&](double of_calls) {
      return row.timed > 0 && of_calls > 0 ? format_time(of_calls) : "-";
    };
    table.rows.push_back({std::string(name_of(step::kSchemeNames, row.scheme)),
                          std::string(name_of(logs::kLogOperationNames, row.operation)), row.group,
                          row.group_size > 0 ? format_count(row.group_size) : "-",
                          format_count(row.predicted), format_count(row.logged),
                          format_bytes(static_cast<double>(sum.predicted_bytes)),
                          format_bytes(static_cast<double>(sum.logged_bytes)), seconds(row.seconds),
                          seconds(row.transfer_s), seconds(row.predicted_s),
                          row.timed > 0 ? format_time(row.exposed_s) : "-"});
  }
  return format_text_table(table);
}

}  // namespace

std::string log_comparison_text(const logs::LogPlanComparison& comparison,
                                const logs::CommunicationLog& log) {
  std::string text = fmt::format("Collective calls of {} and {}: in the plan and in the logs\n\n",
                                 count_with_noun(comparison.ranks, "rank"),
                                 count_with_noun(comparison.steps, "step"));
  if (!comparison.rows.empty()) text += scheme_text(comparison) + "\n";
  for (const std::string& difference : comparison.differences) text += difference + "\n";
  for (const std::string& remark : comparison.remarks) text += remark + "\n";
  text += log_sources_text(log.sources);
  return text +
         fmt::format(
             "{} of plan and logs are the same; {} are in the plan only, {} in the logs only; "
             "the payloads differ by {}.\n",
             count_with_noun(comparison.matched, "call"), format_count(comparison.predicted_only),
             format_count(comparison.logged_only),
             format_bytes(static_cast<double>(comparison.byte_difference)));
}

}  // namespace stepwright::cli
