#include "stepwright/cli/training_run_text.h"

#include <fmt/format.h>

#include <cmath>

#include "stepwright/core/format.h"
#include "stepwright/core/table.h"
#include "stepwright/plan/choices/codes.h"
#include "stepwright/tune/alternatives.h"

namespace stepwright::cli {
std::string cost_amount_text(double value) {
  return value < 100 ? fmt::format("{:.3g}", value) : format_count(std::llround(value));
}

std::string token_count_text(double tokens) {
  if (tokens >= 1e12) return fmt::format("{:.4g}T tokens", tokens / 1e12);
  if (tokens >= 1e9) return fmt::format("{:.4g}B tokens", tokens / 1e9);
  return fmt::format("{} tokens", format_count(std::llround(tokens)));
}

std::string training_run_cost_sentence(const plan::Job& job, double step_time_s,
                                       std::int64_t devices_idle,
                                       const tune::TrainingLengthAndPrice& run) {
  const tune::TrainingRunCost cost = tune::training_run_cost(job, step_time_s, devices_idle, run);
  return fmt::format(
      "{} take {} days and {} GPU-hours{}, without restarts, checkpoints and evaluation",
      token_count_text(run.tokens), cost_amount_text(cost.days), cost_amount_text(cost.gpu_hours),
      cost.cost ? fmt::format(", which cost {}", cost_amount_text(*cost.cost)) : "");
}

std::vector<std::string> training_run_cost_headers(const tune::TrainingLengthAndPrice& run) {
  std::vector<std::string> headers = {"days", "GPU-hours"};
  if (run.price_per_gpu_hour) headers.emplace_back("cost");
  return headers;
}

std::vector<std::string> run_cells(const plan::Job& job, double step_time_s,
                                   std::int64_t devices_idle,
                                   const tune::TrainingLengthAndPrice& run) {
  const tune::TrainingRunCost cost = tune::training_run_cost(job, step_time_s, devices_idle, run);
  std::vector<std::string> cells = {cost_amount_text(cost.days), cost_amount_text(cost.gpu_hours)};
  if (cost.cost) cells.push_back(cost_amount_text(*cost.cost));
  return cells;
}

std::string training_run_cost_text(const tune::TuneResult& result,
                                   const tune::TrainingLengthAndPrice& run) {
  TextTable table{.columns = {{"plan"}}, .rows = {}};
  for (const std::string& header : training_run_cost_headers(run)) {
    table.columns.push_back({header, ColumnAlignment::kRight});
  }
  const auto add = [&](const tune::TunedPlan& tuned) {
    std::vector<std::string>& row = table.rows.emplace_back();
    row.push_back(plan::short_plan_code(tuned.plan));
    for (std::string& cell : run_cells(result.job, tuned.step_time_s, result.devices_idle, run)) {
      row.push_back(std::move(cell));
    }
  };
  add(result.plans.front());
  for (const tune::AlternativePlan& alternative : tune::fastest_plan_of_each_family(result))
    add(alternative.tuned);
  return fmt::format("\nTraining on {}, without restarts, checkpoints and evaluation\n\n{}",
                     token_count_text(run.tokens), format_text_table(table));
}

}  // namespace stepwright::cli
