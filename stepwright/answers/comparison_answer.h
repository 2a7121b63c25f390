#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "stepwright/answers/run_comparison.h"

namespace stepwright::answers {

/// The result of the command `compare`: a plan compared with the log files of its run.
struct LogComparisonAnswer {
  simulate::PlanPrediction prediction;
  PredictionRunComparison run;
  /// Sentence for the user that the run's communication differs from the plan's; empty: it agrees.
  std::string fault;
};

/// Compares a plan with the log files of its run. The plan's pipeline schedule must not be `auto`.
/// Fails with `kInput` if a log is damaged or has no known format.
LogComparisonAnswer compare_plan_with_logs(const plan::PlannedJob& planned,
                                           const std::vector<std::string>& logs);

/// Returns the JSON document that `compare --json` prints (docs/formats.md).
nlohmann::ordered_json log_comparison_answer_json(const LogComparisonAnswer& answer);

/// Returns the HTML page that `compare --report` writes.
std::string log_comparison_report(const LogComparisonAnswer& answer);

}  // namespace stepwright::answers
