#include "stepwright/learn/run_table.h"

#include <fmt/format.h>

#include <ranges>
#include <utility>
#include <variant>

#include "stepwright/core/dtype.h"
#include "stepwright/core/error.h"
#include "stepwright/learn/skipped_lines.h"
#include "stepwright/validate/rows/metric.h"
#include "stepwright/validate/rows/row_plan.h"
#include "stepwright/validate/rows/run_row.h"

namespace stepwright::learn {
namespace {

std::string told(const validate::SkippedRowReason& skipped) {
  return skipped.reason + (skipped.detail.empty() ? "" : ": " + skipped.detail);
}

/// Fills empty cells of a row with the values of its job.
void complete(validate::PublishedRunRow& row, const plan::Job& job) {
  const auto set = [](auto& value, auto known) {
    if (!value) value = known;
  };
  set(row.gpus, job.cluster.devices());
  set(row.global_batch, job.sequences);
  set(row.length, job.length);
  set(row.pipeline, std::int64_t{1});
  set(row.tensor, std::int64_t{1});
  set(row.chunks, std::int64_t{1});
}

/// Returns in words how a row differs from the job; empty if it does not.
std::string other_job(std::string_view what, std::int64_t has, std::int64_t wanted) {
  return has == wanted ? std::string()
                       : fmt::format("of another job: {} {} instead of {}", what, has, wanted);
}

/// Returns how the job of a row contradicts the wanted one; empty if it does not.
std::string contradiction(const plan::Job& own, const plan::Job& job) {
  for (const std::string& found : {other_job("sequences", own.sequences, job.sequences),
                                   other_job("length", own.length, job.length),
                                   other_job("layers", own.model.layers, job.model.layers),
                                   other_job("hidden size", own.model.hidden, job.model.hidden)}) {
    if (!found.empty()) return found;
  }
  return {};
}

std::variant<MeasuredRunOutcome, validate::SkippedRowReason> outcome_of(
    const validate::PublishedRunRow& row) {
  if (row.outcome.empty())
    return row.measured ? MeasuredRunOutcome::kOk : MeasuredRunOutcome::kOpen;
  for (const auto& [outcome, name] : kRunOutcomeNames) {
    if (row.outcome == name) return outcome;
  }
  return validate::SkippedRowReason{
      fmt::format("column outcome: '{}' is not ok, oom or failed", row.outcome)};
}

/// Reads a row as a run with its plan, or returns why it is skipped.
std::variant<std::pair<MeasuredRun, plan::PlannedJob>, validate::SkippedRowReason> own_run(
    const CsvTable& table, const CsvRow& cells, const plan::Job* of) {
  auto read = validate::read_measured_run_row(table, cells);
  if (const auto* skipped = std::get_if<validate::SkippedRowReason>(&read)) return *skipped;
  auto& row = std::get<validate::PublishedRunRow>(read);
  if (of != nullptr) complete(row, *of);
  const auto outcome = outcome_of(row);
  if (const auto* skipped = std::get_if<validate::SkippedRowReason>(&outcome)) return *skipped;
  if (row.trust.value_or(1) > 1) return validate::SkippedRowReason{"column trust: above 1"};
  if (of != nullptr && *row.gpus != of->cluster.devices()) {
    return validate::SkippedRowReason{other_job("devices", *row.gpus, of->cluster.devices())};
  }
  auto made = validate::job_and_plan_of_row(row, of);
  if (const auto* skipped = std::get_if<validate::SkippedRowReason>(&made)) return *skipped;
  plan::PlannedJob& planned = std::get<validate::TableRowPlan>(made).planned;
  if (of != nullptr) {
    if (std::string found = contradiction(planned.job, *of); !found.empty())
      return validate::SkippedRowReason{found};
    planned.job.objective = of->objective;
  }
  MeasuredRun run{.line = row.line,
                  .id = row.id,
                  .outcome = std::get<MeasuredRunOutcome>(outcome),
                  .trust = row.trust.value_or(1)};
  if (run.outcome == MeasuredRunOutcome::kOk && row.measured) {
    const auto measured = validate::measured_step_s(row, planned.job);
    if (const auto* skipped = std::get_if<validate::SkippedRowReason>(&measured)) return *skipped;
    run.seconds = std::get<double>(measured);
  }
  return std::pair(std::move(run), std::move(planned));
}

}  // namespace

MeasuredRunTable read_measured_runs(const CsvTable& table, const plan::Job* of) {
  table.refuse_misspelt_column_titles(validate::measured_run_table_columns());
  MeasuredRunTable all{.table = table.name, .runs = {}, .plans = {}, .skipped = {}};
  for (const CsvRow& cells : table.rows) {
    auto made = own_run(table, cells, of);
    if (const auto* skipped = std::get_if<validate::SkippedRowReason>(&made)) {
      all.skipped.push_back({cells.line, told(*skipped)});
      continue;
    }
    auto& [run, planned] = std::get<std::pair<MeasuredRun, plan::PlannedJob>>(made);
    all.runs.push_back(std::move(run));
    all.plans.push_back(std::move(planned));
  }
  return all;
}

MeasuredRunTable keep_runs_with_step_time(MeasuredRunTable runs) {
  MeasuredRunTable kept{
      .table = runs.table, .runs = {}, .plans = {}, .skipped = std::move(runs.skipped)};
  for (std::size_t i = 0; i < runs.runs.size(); ++i) {
    if (runs.runs[i].seconds > 0) {
      kept.runs.push_back(std::move(runs.runs[i]));
      kept.plans.push_back(std::move(runs.plans[i]));
    } else {
      kept.skipped.push_back({runs.runs[i].line, "no step was measured"});
    }
  }
  return kept;
}

void require_usable_measured_run(const MeasuredRunTable& runs, std::string_view fault) {
  if (!runs.runs.empty()) return;
  std::string text = fmt::format("{}: {}\n{}", runs.table, fault,
                                 skipped_rows_text(runs.skipped, runs.table + ":"));
  text.pop_back();
  fail_input(text);
}

std::string skipped_rows_text(const std::vector<SkippedRunRow>& skipped, std::string_view begin) {
  constexpr std::size_t kShown = 20;
  std::string text;
  for (const SkippedRunRow& run : skipped | std::views::take(kShown)) {
    text += fmt::format("{}{}: {}\n", begin, run.line, run.reason);
  }
  if (skipped.size() > kShown) text += fmt::format("and {} more\n", skipped.size() - kShown);
  return text;
}

std::vector<const plan::Job*> jobs_of_plans(const std::vector<plan::PlannedJob>& plans) {
  std::vector<const plan::Job*> jobs;
  for (const plan::PlannedJob& planned : plans) jobs.push_back(&planned.job);
  return jobs;
}

}  // namespace stepwright::learn
