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

/// A plan compared with the logs of a run of it.
struct RunComparison {
  logs::Log log;
  /// Differences between log and plan; for a ledger of `stepwright train`, see `ledger`.
  logs::LogComparison found;
  logs::Comparison ledger;
  /// Seconds of a step in the logs; nullopt: the logs do not show it.
  std::optional<double> logged_s;

  [[nodiscard]] bool is_ledger() const;
  [[nodiscard]] bool differs() const { return !found.differences.empty(); }
};

/// Reads logs of any program in docs/logs.md, preferably of all ranks, and compares them with a
/// prediction. Fails as `read_logs`.
RunComparison compare_run(const simulate::Prediction& prediction,
                          const std::vector<std::string>& files);

/// Returns the mean bytes of a routed call over its executions.
double mean_bytes(const logs::RoutedCalls& row);

/// Returns the document of `compare --json`.
nlohmann::ordered_json run_comparison_json(const RunComparison& run,
                                           const simulate::Prediction& prediction);

}  // namespace stepwright::answers
