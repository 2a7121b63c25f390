#include "stepwright/cli/training_run_text.h"

#include <fmt/format.h>

#include <cmath>

#include "stepwright/core/format.h"
#include "stepwright/core/table.h"
#include "stepwright/plan/choices/codes.h"
#include "stepwright/tune/alternatives.h"

namespace stepwright::cli {
std::string amount(double value) {
  return value < 100 ? fmt::format("{:.3g}", value) : format_count(std::llround(value));
}

std::string tokens_text(double tokens) {
  if (tokens >= 1e12) return fmt::format("{:.4g}T tokens", tokens / 1e12);
  if (tokens >= 1e9) return fmt::format("{:.4g}B tokens", tokens / 1e9);
  return fmt::format("{} tokens", format_count(std::llround(tokens)));
}

std::string run_cost_sentence(const plan::Job& job, double step_time_s, std::int64_t devices_idle,
                              const tune::TrainingRun& run) {
  const tune::RunCost cost = tune::run_cost(job, step_time_s, devices_idle, run);
  return fmt::format(
      "{} take {} days and {} GPU-hours{}, without restarts, checkpoints and evaluation",
      tokens_text(run.tokens), amount(cost.days), amount(cost.gpu_hours),
      cost.cost ? fmt::format(", which cost {}", amount(*cost.cost)) : "");
}

std::vector<std::string> run_cost_headers(const tune::TrainingRun& run) {
  std::vector<std::string> headers = {"days", "GPU-hours"};
  if (run.price_per_gpu_hour) headers.emplace_back("cost");
  return headers;
}

std::vector<std::string> run_cells(const plan::Job& job, double step_time_s,
                                   std::int64_t devices_idle, const tune::TrainingRun& run) {
  const tune::RunCost cost = tune::run_cost(job, step_time_s, devices_idle, run);
  std::vector<std::string> cells = {amount(cost.days), amount(cost.gpu_hours)};
  if (cost.cost) cells.push_back(amount(*cost.cost));
  return cells;
}

std::string run_cost_text(const tune::TuneResult& result, const tune::TrainingRun& run) {
  Table table{.columns = {{"plan"}}, .rows = {}};
  for (const std::string& header : run_cost_headers(run)) {
    table.columns.push_back({header, Align::kRight});
  }
  const auto add = [&](const tune::TunedPlan& tuned) {
    std::vector<std::string>& row = table.rows.emplace_back();
    row.push_back(plan::plan_code(tuned.plan));
    for (std::string& cell : run_cells(result.job, tuned.step_time_s, result.devices_idle, run)) {
      row.push_back(std::move(cell));
    }
  };
  add(result.plans.front());
  for (const tune::Alternative& alternative : tune::alternatives(result)) add(alternative.tuned);
  return fmt::format("\nTraining on {}, without restarts, checkpoints and evaluation\n\n{}",
                     tokens_text(run.tokens), to_text(table));
}

}  // namespace stepwright::cli
