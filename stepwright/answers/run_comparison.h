#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/logs/compare.h"
#include "stepwright/logs/match.h"
#include "stepwright/logs/readers/read_logs.h"
#include "stepwright/simulate/prediction.h"

namespace stepwright::answers {

/// The comparison of a plan's prediction with the logs of a run of the plan.
struct PredictionRunComparison {
  logs::CommunicationLog log;
  /// Differences between the log and the plan, for logs of any program.
  logs::LogPlanComparison found;
  logs::LedgerComparison ledger;
  /// Step time in the logs, in seconds; nullopt: the logs do not show it.
  std::optional<double> logged_s;

  [[nodiscard]] bool is_ledger() const;
  [[nodiscard]] bool differs() const { return !found.differences.empty(); }
};

/// Compares a prediction with the logs of a run, preferably of all ranks. Logs may have any format
/// listed in docs/logs.md. Fails with `kInput` if a log is damaged or has no known format.
PredictionRunComparison compare_prediction_with_logs(const simulate::PlanPrediction& prediction,
                                                     const std::vector<std::string>& files);

/// Returns the mean number of bytes per execution of a collective call whose size depends on token
/// routing.
double mean_routed_call_bytes(const logs::RouterDependentCalls& row);

/// Returns the JSON document that `compare --json` prints.
nlohmann::ordered_json prediction_run_comparison_json(const PredictionRunComparison& run,
                                                      const simulate::PlanPrediction& prediction);

}  // namespace stepwright::answers
