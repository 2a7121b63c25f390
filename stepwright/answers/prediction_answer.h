#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/answers/memory_reserve.h"
#include "stepwright/check/remedies.h"
#include "stepwright/simulate/prediction.h"
#include "stepwright/tune/training_run.h"

namespace stepwright::answers {

/// The arguments of the command `stepwright predict`, besides the plan itself.
struct PredictionRequest {
  std::string name;  ///< Name of the plan's file, used in messages.
  /// Changes to the plan to try: "FIELD=VALUE" or "FIELD=2x" (twice the value).
  std::vector<std::string> changes;
  std::optional<tune::TrainingLengthAndPrice> run;
  MemoryHeadroom reserve;
  /// True: also record the timeline of the step (start and end of every event).
  bool timeline = false;
};

/// The result of the command `stepwright predict`: step time and memory of a plan.
struct PredictionAnswer {
  /// Prediction of the plan before the requested changes; nullopt: no changes were requested.
  std::optional<simulate::PlanPrediction> before;
  simulate::PlanPrediction prediction;  ///< Prediction of the plan after the requested changes.
  std::optional<tune::TrainingLengthAndPrice> run;
  /// Changes that would let the plan fit in memory; empty: it fits.
  std::vector<check::MemoryRemedyWithFlags> remedies;
};

/// Predicts the step time and memory of a plan. Fails with `kInput` if a requested change is
/// invalid or makes the plan illegal.
PredictionAnswer predict_step_time_and_memory(plan::PlannedJob planned,
                                              const PredictionRequest& request);

/// Returns the JSON document that `predict --json` prints (docs/formats.md).
nlohmann::ordered_json prediction_answer_json(const PredictionAnswer& answer);

/// Returns the HTML page that `predict --report` writes.
std::string prediction_report(const PredictionAnswer& answer);

}  // namespace stepwright::answers
