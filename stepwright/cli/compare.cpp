#include "stepwright/logs/compare.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "stepwright/cli/command.h"
#include "stepwright/cli/comparison_text.h"
#include "stepwright/cli/output.h"
#include "stepwright/cli/plan_file.h"
#include "stepwright/cli/report_file.h"
#include "stepwright/cli/report_names.h"
#include "stepwright/core/error.h"
#include "stepwright/core/format.h"
#include "stepwright/logs/match_json.h"
#include "stepwright/logs/predicted_times.h"
#include "stepwright/logs/read_logs.h"
#include "stepwright/plan/words.h"
#include "stepwright/simulate/prediction.h"

namespace stepwright {
namespace {

constexpr std::size_t kShown = 20;  ///< Differences that people get to see.

double mean_bytes(const RoutedCalls& row) {
  return static_cast<double>(row.executed_bytes) / static_cast<double>(row.calls);
}

std::string routed_text(const RoutedCalls& row) {
  return fmt::format(
      "{} depends on the router: {:.0f} bytes in the mean of {} calls and {} at most, {} of them "
      "above the predicted largest of {:.0f} bytes.",
      text_of(row.call), mean_bytes(row), row.calls, row.largest_bytes, row.beyond,
      row.bound_bytes);
}

nlohmann::ordered_json routed_json(const std::vector<RoutedCalls>& rows) {
  auto list = nlohmann::ordered_json::array();
  for (const RoutedCalls& row : rows) {
    list.push_back({{"operation", name_of(kOperatorNames, row.call.operation)},
                    {"phase", name_of(kPhaseNames, row.call.phase)},
                    {"name", row.call.name},
                    {"calls", row.calls},
                    {"predicted_bytes", row.call.payload_bytes},
                    {"bound_bytes", row.bound_bytes},
                    {"mean_bytes", mean_bytes(row)},
                    {"largest_bytes", row.largest_bytes},
                    {"beyond_bound", row.beyond}});
  }
  return list;
}

std::string ledger_text(const Comparison& found) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, found.differences.size()); ++i) {
    text += found.differences[i] + '\n';
  }
  for (const RoutedCalls& row : found.routed) text += routed_text(row) + '\n';
  return text + fmt::format("The plan has {} on {}; the run differs in {}.\n",
                            counted(found.calls, "call"),
                            counted(found.communicators, "communicator"), found.differences.size());
}

std::string step_text(double logged_s, const Prediction& prediction) {
  const double step_s = prediction.step_time_s();
  return fmt::format(
      "A step took {} in the logs (from mark to mark, the median); predicted are {} ({} to {} with "
      "a probability of 80%).\n",
      format_time(logged_s), format_time(step_s), format_time(prediction.interval.low * step_s),
      format_time(prediction.interval.high * step_s));
}

class Compare : public Command {
 public:
  explicit Compare(CLI::App& program)
      : Command(program, "compare", "Compare what a plan should send with what a run sent",
                "  stepwright train plan.yaml --data text.txt --ledger sent.json\n"
                "  stepwright compare plan.yaml --log sent.json\n"
                "  stepwright compare plan.yaml --log trace.*.json.gz") {
    app().add_option("PLAN", plan_, "Plan file, as `stepwright tune -o` writes it")->required();
    app()
        .add_option("--log", logs_,
                    "Ledger that `stepwright train --ledger` wrote, or logs of any program in\n"
                    "docs/logs.md, best of all ranks")
        ->required()
        ->type_name("FILE");
  }

  void run(const Console& console) override {
    report_.check(plan_);
    const PlannedJob planned = load_settled_plan(plan_, console);
    const Prediction prediction = predict(planned);
    const StepProgram& program = prediction.program;
    const Grid grid(planned.plan);
    const Log log = read_logs(logs_);
    LogComparison found = compare_log(program, grid, log);
    add_predicted_times(found, program, grid, operator_times(prediction));
    const std::optional<double> logged_s = logged_step_s(log);
    Comparison ledger = compared_ledger(program, grid, log);
    const bool is_ledger = log.sources.front().format == LogFormat::kLedger;
    if (is_ledger) found.differences = ledger.differences;
    nlohmann::ordered_json answer;
    if (json() || report_.wanted()) {
      answer = {{"communicators", ledger.communicators},
                {"calls", ledger.calls},
                {"differences", found.differences},
                {"routed", routed_json(ledger.routed)}};
      answer.update(match_json(found, log));
      if (logged_s) {
        answer["step_time_s"] = prediction.step_time_s();
        answer["logged_step_time_s"] = *logged_s;
      }
    }
    if (report_.wanted()) {
      report_.write(console, job_line(planned.job), answer,
                    {{"name", plan_name(planned.plan, planned.job)}});
    }
    if (json()) {
      print_json(console.out, answer);
    } else {
      console.out << (is_ledger ? ledger_text(ledger) : comparison_text(found, log));
      if (logged_s) console.out << step_text(*logged_s, prediction);
    }
    if (!found.differences.empty()) {
      throw Error(ErrorKind::kRuntime, "the run sent something else than the plan says");
    }
  }

 private:
  /// Compares a ledger of our own call by call; of other logs the counts alone.
  Comparison compared_ledger(const StepProgram& program, const Grid& grid, const Log& log) const {
    const auto is_ledger = [](const LogSource& source) {
      return source.format == LogFormat::kLedger;
    };
    if (std::ranges::none_of(log.sources, is_ledger)) {
      Comparison counts{.communicators = std::ssize(log.communicators)};
      for (const Message& message : ledger(program, std::nullopt, grid).messages) {
        counts.calls += message.count;
      }
      return counts;
    }
    if (logs_.size() > 1) fail_input("--log: a ledger holds all ranks; give it alone");
    return compare_ledgers(program, grid, load_ledger(logs_.front()));
  }

  std::string plan_;
  std::vector<std::string> logs_;
  ReportFile report_{app()};
};

}  // namespace

std::unique_ptr<Command> compare_command(CLI::App& program) {
  return std::make_unique<Compare>(program);
}

}  // namespace stepwright
