#include "stepwright/cli/sweep_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "stepwright/cli/training_run_text.h"
#include "stepwright/core/chart.h"
#include "stepwright/core/format.h"
#include "stepwright/core/scalar.h"
#include "stepwright/core/table.h"
#include "stepwright/plan/words.h"
#include "stepwright/simulate/efficiency.h"

namespace stepwright {
namespace {

constexpr double kWidestBar = 24;

double longest_step_s(const Sweep& sweep) {
  double longest_s = 0;
  for (const SweepPoint& point : sweep.points) {
    if (point.best) longest_s = std::max(longest_s, point.best->step_time_s);
  }
  return longest_s;
}

/// A picture of one figure of each plan found.
Chart sweep_chart(const Sweep& sweep, const std::string& figure,
                  const std::function<double(const SweepPoint&)>& value) {
  const bool numbers = std::ranges::all_of(
      sweep.points, [](const SweepPoint& point) { return read_double(point.value).has_value(); });
  std::string axis = sweep.field;
  ChartSeries series{.name = "best plan", .points = {}};
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    const SweepPoint& point = sweep.points[i];
    const double place = static_cast<double>(i + 1);
    if (!numbers) axis += fmt::format("{} {}: {}", i == 0 ? "," : ";", i + 1, point.value);
    if (!point.best) continue;
    series.points.push_back({numbers ? *read_double(point.value) : place, value(point)});
  }
  return {.title = figure, .x = {.title = axis}, .y = {.title = figure}, .series = {series}};
}

}  // namespace

std::string sweep_text(const Sweep& sweep, const std::optional<TrainingRun>& run) {
  Table table{.columns = {{sweep.field, Align::kRight},
                          {"plan"},
                          {"step", Align::kRight},
                          {""},
                          {"MFU", Align::kRight}},
              .rows = {}};
  if (run) {
    for (const std::string& header : run_headers(*run)) {
      table.columns.push_back({header, Align::kRight});
    }
  }
  const double longest_s = longest_step_s(sweep);
  for (const SweepPoint& point : sweep.points) {
    std::vector<std::string>& row = table.rows.emplace_back();
    row.push_back(point.value);
    if (!point.best) {
      row.push_back(point.refused);
      row.resize(table.columns.size());
      continue;
    }
    const double step_s = point.best->step_time_s;
    row.push_back(plan_code(point.best->plan) + (point.best->fits ? "" : " (does not fit)"));
    row.push_back(format_time(step_s));
    row.push_back(format_bar(step_s, longest_s, kWidestBar));
    row.push_back(format_percent(efficiency(point.job, step_s).mfu));
    if (!run) continue;
    for (std::string& cell : run_cells(point.job, step_s, point.devices_idle, *run))
      row.push_back(std::move(cell));
  }
  return fmt::format("\nThe best plan for each {}\n\n{}", sweep.field, to_text(table));
}

std::string sweep_page(const Sweep& sweep, const std::optional<TrainingRun>& run) {
  std::vector<Chart> charts;
  const auto add = [&](const std::string& figure, const auto& value) {
    charts.push_back(sweep_chart(sweep, figure, value));
  };
  add("step time (s)", [](const SweepPoint& point) { return point.best->step_time_s; });
  add("MFU",
      [](const SweepPoint& point) { return efficiency(point.job, point.best->step_time_s).mfu; });
  if (run) {
    const auto whole = [&](const SweepPoint& point) {
      return run_cost(point.job, point.best->step_time_s, point.devices_idle, *run);
    };
    add("days", [&](const SweepPoint& point) { return whole(point).days; });
    if (run->price_per_gpu_hour) {
      add("cost", [&](const SweepPoint& point) { return *whole(point).cost; });
    } else {
      add("GPU-hours", [&](const SweepPoint& point) { return whole(point).gpu_hours; });
    }
  }
  return to_html("The best plan for each " + sweep.field, charts);
}

}  // namespace stepwright
