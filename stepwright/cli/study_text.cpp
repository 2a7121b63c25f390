#include "stepwright/cli/study_text.h"

#include <fmt/format.h>

#include <map>

#include "stepwright/core/format.h"
#include "stepwright/core/table.h"
#include "stepwright/plan/choices/codes.h"
#include "stepwright/plan/choices/words.h"

namespace stepwright::cli {
namespace {

std::string panel_text(const study::KeyedStudyChart& panel) {
  const study::Chart& chart = panel.chart;
  TextTable table{.columns = {{chart.x.title, ColumnAlignment::kRight}}, .rows = {}};
  std::map<double, std::vector<std::string>> cells;
  const std::size_t curves = chart.series.size();
  for (std::size_t i = 0; i < curves; ++i) {
    table.columns.push_back({chart.series[i].name, ColumnAlignment::kRight});
    for (const study::ChartPoint& point : chart.series[i].points) {
      cells.try_emplace(point.x, curves).first->second[i] = chart.y.label(point.y);
    }
  }
  for (const auto& [x, values] : cells) {
    std::vector<std::string> row{chart.x.label(x)};
    row.insert(row.end(), values.begin(), values.end());
    table.rows.push_back(std::move(row));
  }
  const std::string body = curves > 0 ? format_text_table(table) : "nothing\n";
  return fmt::format("{} ({})\n\n{}", chart.title, chart.y.title, body);
}

}  // namespace

std::string study_tables_text(const study::StudyCharts& study) {
  std::string text = fmt::format("{}\nplan         {}\n", plan::job_summary_line(study.planned.job),
                                 plan::plan_description(study.planned.plan, study.planned.job));
  for (const study::KeyedStudyChart& panel : study.panels) text += '\n' + panel_text(panel);
  return text;
}

std::string search_comparison_text(const study::SearchMethodComparison& comparison) {
  TextTable table{.columns = {{"chosen by"},
                              {"plan"},
                              {"step", ColumnAlignment::kRight},
                              {"of the first", ColumnAlignment::kRight},
                              {"evaluated", ColumnAlignment::kRight},
                              {"took", ColumnAlignment::kRight}},
                  .rows = {}};
  std::vector<plan::Plan> plans;
  const double first_s = comparison.choices.front().step_time_s;
  for (const study::SearchMethodChoice& choice : comparison.choices) {
    const bool found = choice.plan.has_value();
    if (found) plans.push_back(*choice.plan);
    table.rows.push_back(
        {choice.by, found ? plan::short_plan_code(*choice.plan) : "none that fits",
         found ? format_time(choice.step_time_s) : "",
         found && first_s > 0 ? fmt::format("{:.3f}", choice.step_time_s / first_s) : "",
         format_count(choice.evaluated), format_time(choice.seconds)});
  }
  return fmt::format("{}\n\n{}\n{}", plan::job_summary_line(comparison.job),
                     format_text_table(table), plan::legend_of_plan_codes(plans));
}

}  // namespace stepwright::cli
