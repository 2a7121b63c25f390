#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "stepwright/answers/run_comparison.h"

namespace stepwright::answers {

/// A plan beside the logs of a run of it.
struct ComparisonAnswer {
  simulate::Prediction prediction;
  RunComparison run;
  /// Sentence that the run sent something else; empty: it sent what the plan says.
  std::string fault;
};

/// Compares a settled plan with the logs of a run, paths of files. Fails as `compare_run`.
ComparisonAnswer answer_comparison(const plan::PlannedJob& planned,
                                   const std::vector<std::string>& logs);

/// The document of `compare --json` (docs/formats.md).
nlohmann::ordered_json comparison_answer_json(const ComparisonAnswer& answer);

/// The page of `compare --report`.
std::string comparison_report(const ComparisonAnswer& answer);

}  // namespace stepwright::answers
