#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "stepwright/answers/run_comparison.h"

namespace stepwright::answers {

/// The result of `compare`: a plan compared with the logs of a run of it.
struct LogComparisonAnswer {
  simulate::Prediction prediction;
  RunComparison run;
  /// A sentence that the run communicated differently from the plan; empty: it did what the plan
  /// says.
  std::string fault;
};

/// Compares a plan, whose schedule must not be `auto` (`with_resolved_schedule`), with the log
/// files of a run. Fails as `compare_run`.
LogComparisonAnswer compare_plan_with_logs(const plan::PlannedJob& planned,
                                           const std::vector<std::string>& logs);

/// Returns the document of `compare --json` (docs/formats.md).
nlohmann::ordered_json log_comparison_answer_json(const LogComparisonAnswer& answer);

/// Returns the HTML page of `compare --report`.
std::string log_comparison_report(const LogComparisonAnswer& answer);

}  // namespace stepwright::answers
