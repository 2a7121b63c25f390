#include "stepwright/cli/tune_runs.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "stepwright/cli/file_option.h"
#include "stepwright/core/format.h"
#include "stepwright/core/table.h"
#include "stepwright/learn/skipped_lines.h"
#include "stepwright/plan/choices/codes.h"
#include "stepwright/runtime/launch/number_option.h"

namespace stepwright::cli {
namespace {

std::vector<std::string> plan_cells(const learn::PlanWithExpectedTime& one) {
  return {one.id, plan::short_plan_code(one.planned.plan), format_time(one.expected_s),
          fmt::format("{} to {}", format_time(one.low_s), format_time(one.high_s)),
          fmt::format("{:.2f}", one.p_fits)};
}

TextTable plan_table() {
  return {.columns = {{"row"},
                      {"plan"},
                      {"step", ColumnAlignment::kRight},
                      {"80 % between", ColumnAlignment::kRight},
                      {"P(fits)", ColumnAlignment::kRight}},
          .rows = {}};
}

std::string best_text(const learn::MeasuredRunsVerdict& loop) {
  if (!loop.best) return "NONE OF THE CANDIDATES FITS IN MEMORY.\n";
  TextTable table = plan_table();
  table.rows.push_back(plan_cells(*loop.best));
  return fmt::format("The best plan now ({})\n\n{}",
                     loop.best->ran ? "measured" : "not measured yet", format_text_table(table));
}

std::string next_text(const learn::MeasuredRunsVerdict& loop) {
  if (loop.next.empty()) return "\nNo candidate is left to measure.\n";
  TextTable table = plan_table();
  table.columns.push_back({"gain", ColumnAlignment::kRight});
  for (const learn::PlanWithExpectedTime& one : loop.next) {
    table.rows.push_back(plan_cells(one));
    table.rows.back().push_back(loop.measured == 0 ? "" : format_percent(one.gain));
  }
  return fmt::format(
      "\nPlans to measure next (gain: expected saving, as a share of the best step)\n\n{}{}",
      format_text_table(table),
      loop.stop ? "No measurement is expected to make the step 1 % faster: stop measuring.\n" : "");
}

/// Formats how far a prediction is above the measurement: "+4.2 %".
std::string error_text(double predicted_s, double measured_s) {
  return fmt::format("{:+.1f} %", 100 * (predicted_s / measured_s - 1));
}

std::string runs_text(const learn::MeasuredRunsVerdict& loop) {
  if (loop.runs.empty()) return "";
  TextTable table{.columns = {{"row"},
                              {"measured", ColumnAlignment::kRight},
                              {"predicted before", ColumnAlignment::kRight},
                              {"error", ColumnAlignment::kRight},
                              {"predicted now", ColumnAlignment::kRight},
                              {"error", ColumnAlignment::kRight}},
                  .rows = {}};
  for (const learn::RunWithPrediction& run : loop.runs) {
    table.rows.push_back({run.id.empty() ? fmt::format("line {}", run.line) : run.id,
                          format_time(run.measured_s), format_time(run.before_s),
                          error_text(run.before_s, run.measured_s), format_time(run.now_s),
                          error_text(run.now_s, run.measured_s)});
  }
  return fmt::format(
      "\nThe measured runs, predicted without and with the constants learned from all of "
      "them\n\n{}",
      format_text_table(table));
}

std::string contrary_text(const learn::MeasuredRunsVerdict& loop) {
  std::string text;
  for (const learn::LearnedConstant& one : loop.contrary) {
    text += fmt::format(
        "Warning: {} of {} moved from {:.4g} to {:.4g}, against the evidence of most runs: check "
        "whether their rows state what ran (kernels, precision, recomputation).\n",
        one.before.key, one.before.of, one.before.value, one.now.value);
  }
  return text;
}

std::string learned_text(const learn::MeasuredRunsVerdict& loop) {
  if (loop.learned.empty()) return "";
  TextTable table{.columns = {{"constant"},
                              {"of"},
                              {"before", ColumnAlignment::kRight},
                              {"now", ColumnAlignment::kRight}},
                  .rows = {}};
  for (const learn::LearnedConstant& one : loop.learned) {
    table.rows.push_back({std::string(one.before.key), one.before.of,
                          fmt::format("{:.4g}", one.before.value),
                          fmt::format("{:.4g}", one.now.value)});
  }
  return fmt::format(
      "\nConstants learned from {} measured runs ({} ran out of memory, {} failed)\n\n{}",
      loop.measured, loop.out_of_memory, loop.failed, format_text_table(table));
}

}  // namespace

void MeasuredRunsOptions::add_options_to_command(CLI::App& command) {
  CLI::Option* runs =
      reads(command.add_option(
                "--runs", request_.runs,
                "Your own runs of this very job, successes and failures: what they say of\n"
                "all plans, and which to measure next (docs/formats.md, Own runs)"))
          ->type_name("CSV");
  reads(command.add_option("--candidates", request_.candidates,
                           "With --runs: choose among the plans of this table only"))
      ->type_name("CSV")
      ->needs(runs);
  command
      .add_option("--next", request_.next,
                  "With --runs: list the N plans whose measurement is worth most")
      ->check(runtime::whole_number_validator(0, answers::kMaxPlansToMeasureNext))
      ->type_name("N")
      ->needs(runs)
      ->capture_default_str();
  for (const char* other :
       {"--against", "--sweep", "--exhaustive", "--top", "--tokens", "--report", "--verbose"}) {
    runs->excludes(command.get_option(other));
  }
}

answers::MeasuredRunsRequest MeasuredRunsOptions::measured_runs_request(
    const std::string& job_file) const {
  answers::MeasuredRunsRequest request = request_;
  request.name = job_file;
  return request;
}

std::string measured_runs_text(const learn::MeasuredRunsVerdict& loop) {
  std::vector<plan::Plan> plans;
  if (loop.best) plans.push_back(loop.best->planned.plan);
  for (const learn::PlanWithExpectedTime& one : loop.next) plans.push_back(one.planned.plan);
  return fmt::format(
      "{}{}\n{}{}{}{}\n{}{}", best_text(loop), next_text(loop), plan::legend_of_plan_codes(plans),
      runs_text(loop), learned_text(loop), contrary_text(loop),
      learn::skipped_rows_text(loop.skipped, "Skipped, runs, line "),
      learn::skipped_rows_text(loop.skipped_candidates, "Skipped, candidates, line "));
}

}  // namespace stepwright::cli
