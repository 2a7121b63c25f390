#include "stepwright/cli/sweep_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "stepwright/cli/prediction_text.h"
#include "stepwright/cli/training_run_text.h"
#include "stepwright/core/format.h"
#include "stepwright/core/table.h"
#include "stepwright/plan/choices/codes.h"
#include "stepwright/simulate/efficiency.h"

namespace stepwright::cli {
namespace {

constexpr double kWidestBar = 24;

double longest_step_s(const tune::TuneSweep& sweep) {
  double longest_s = 0;
  for (const tune::TuneSweepPoint& point : sweep.points) {
    if (point.best) longest_s = std::max(longest_s, point.best->step_time_s);
  }
  return longest_s;
}

}  // namespace

std::string setting_sweep_text(const tune::TuneSweep& sweep,
                               const std::optional<tune::TrainingLengthAndPrice>& run) {
  TextTable table{.columns = {{sweep.field, ColumnAlignment::kRight},
                              {"plan"},
                              {"step", ColumnAlignment::kRight},
                              {""},
                              {"MFU", ColumnAlignment::kRight}},
                  .rows = {}};
  if (run) {
    for (const std::string& header : training_run_cost_headers(*run)) {
      table.columns.push_back({header, ColumnAlignment::kRight});
    }
  }
  const double longest_s = longest_step_s(sweep);
  std::vector<plan::Plan> plans;
  for (const tune::TuneSweepPoint& point : sweep.points) {
    std::vector<std::string>& row = table.rows.emplace_back();
    row.push_back(point.value);
    if (!point.best) {
      row.push_back(point.refused);
      row.resize(table.columns.size());
      continue;
    }
    const double step_s = point.best->step_time_s;
    plans.push_back(point.best->plan);
    const std::string_view mark = memory_fit_status_text(point.best->verdict);
    row.push_back(plan::short_plan_code(point.best->plan) +
                  (mark.empty() ? "" : fmt::format(" ({})", mark)));
    row.push_back(format_time(step_s));
    row.push_back(format_chart_bar(step_s, longest_s, kWidestBar));
    row.push_back(
        format_percent(simulate::model_flops_efficiency(point.job, point.best->plan, step_s).mfu));
    if (!run) continue;
    for (std::string& cell : run_cells(point.job, step_s, point.devices_idle, *run))
      row.push_back(std::move(cell));
  }
  return fmt::format("\nThe best plan for each {}\n\n{}\n{}", sweep.field, format_text_table(table),
                     plan::legend_of_plan_codes(plans));
}

}  // namespace stepwright::cli
