#include "stepwright/answers/run_comparison.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "stepwright/core/error.h"
#include "stepwright/logs/match_json.h"
#include "stepwright/logs/predicted_times.h"

namespace stepwright::answers {
namespace {

nlohmann::ordered_json routed_json(const std::vector<logs::RouterDependentCalls>& rows) {
  auto list = nlohmann::ordered_json::array();
  for (const logs::RouterDependentCalls& row : rows) {
    list.push_back({{"operation", name_of(step::kOperatorNames, row.call.operation)},
                    {"phase", name_of(step::kPhaseNames, row.call.phase)},
                    {"name", row.call.name},
                    {"calls", row.calls},
                    {"predicted_bytes", row.call.payload_bytes},
                    {"bound_bytes", row.bound_bytes},
                    {"mean_bytes", mean_routed_call_bytes(row)},
                    {"largest_bytes", row.largest_bytes},
                    {"beyond_bound", row.beyond}});
  }
  return list;
}

/// Compares a ledger of `stepwright train` call by call; for other logs, compares counts only.
logs::LedgerComparison compared_ledger(const step::StepProgram& program, const plan::RankGrid& grid,
                                       const logs::CommunicationLog& log,
                                       const std::vector<std::string>& files) {
  const auto is_ledger = [](const logs::LogFileReadResult& source) {
    return source.format == logs::LogFormat::kLedger;
  };
  if (std::ranges::none_of(log.sources, is_ledger)) {
    logs::LedgerComparison counts{.communicators = std::ssize(log.communicators)};
    for (const traffic::TrafficLedgerRow& message :
         traffic::count_traffic_of_step(program, std::nullopt, grid).messages) {
      counts.calls += message.count;
    }
    return counts;
  }
  if (files.size() > 1) fail_input("--log: a ledger contains all ranks; give no other log");
  return logs::compare_message_ledgers(program, grid, logs::read_executed_ledger(files.front()));
}

}  // namespace

double mean_routed_call_bytes(const logs::RouterDependentCalls& row) {
  return static_cast<double>(row.executed_bytes) / static_cast<double>(row.calls);
}

bool PredictionRunComparison::is_ledger() const {
  return log.sources.front().format == logs::LogFormat::kLedger;
}

PredictionRunComparison compare_prediction_with_logs(const simulate::PlanPrediction& prediction,
                                                     const std::vector<std::string>& files) {
  const step::StepProgram& program = prediction.program;
  const plan::RankGrid grid(prediction.planned.plan);
  PredictionRunComparison run{
      .log = logs::read_logs(files), .found = {}, .ledger = {}, .logged_s = {}};
  run.found = logs::compare_log_with_plan(program, grid, run.log);
  logs::add_predicted_call_times(run.found, program, grid,
                                 simulate::isolated_operator_seconds(prediction));
  run.logged_s = logs::median_logged_step_s(run.log);
  run.ledger = compared_ledger(program, grid, run.log, files);
  if (run.is_ledger()) run.found.differences = run.ledger.differences;
  return run;
}

nlohmann::ordered_json prediction_run_comparison_json(const PredictionRunComparison& run,
                                                      const simulate::PlanPrediction& prediction) {
  nlohmann::ordered_json answer = {{"communicators", run.ledger.communicators},
                                   {"calls", run.ledger.calls},
                                   {"differences", run.found.differences},
                                   {"routed", routed_json(run.ledger.routed)}};
  answer.update(logs::log_comparison_match_json(run.found, run.log));
  if (run.logged_s) {
    answer["step_time_s"] = prediction.step_time_s();
    answer["logged_step_time_s"] = *run.logged_s;
  }
  return answer;
}

}  // namespace stepwright::answers
