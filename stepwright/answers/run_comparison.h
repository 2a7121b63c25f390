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

/// A plan beside the logs of a run of it.
struct RunComparison {
  logs::Log log;
  logs::LogComparison found;  ///< Differences; of a ledger of our own call by call.
  logs::Comparison ledger;
  std::optional<double> logged_s;  ///< A step in the logs.

  [[nodiscard]] bool is_ledger() const;
  [[nodiscard]] bool differs() const { return !found.differences.empty(); }
};

/// Reads logs of any program in docs/logs.md, best of all ranks, and compares them. Fails as
/// `read_logs`.
RunComparison compare_run(const simulate::Prediction& prediction,
                          const std::vector<std::string>& files);

/// Bytes of a routed call, in the mean of those that were executed.
double mean_bytes(const logs::RoutedCalls& row);

/// The document of `compare --json`.
nlohmann::ordered_json run_comparison_json(const RunComparison& run,
                                           const simulate::Prediction& prediction);

}  // namespace stepwright::answers
