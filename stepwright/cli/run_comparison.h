#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/logs/compare.h"
#include "stepwright/logs/match.h"
#include "stepwright/logs/readers/read_logs.h"
#include "stepwright/simulate/prediction.h"

namespace stepwright::cli {

/// A plan beside the logs of a run of it.
struct RunComparison {
  logs::Log log;
  logs::LogComparison found;  ///< What differs, of a ledger of our own call by call.
  logs::Comparison ledger;
  std::optional<double> logged_s;  ///< A step in the logs.

  [[nodiscard]] bool is_ledger() const;
  [[nodiscard]] bool differs() const { return !found.differences.empty(); }
};

/// Reads logs of any program in docs/logs.md, best of all ranks, and compares them. Fails as
/// `read_logs`.
RunComparison compare_run(const simulate::Prediction& prediction,
                          const std::vector<std::string>& files);

/// The document of `compare --json`.
nlohmann::ordered_json run_comparison_json(const RunComparison& run,
                                           const simulate::Prediction& prediction);

/// The same for people.
std::string run_comparison_text(const RunComparison& run, const simulate::Prediction& prediction);

}  // namespace stepwright::cli
