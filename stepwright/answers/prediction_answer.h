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

/// The arguments of the command `stepwright predict`.
struct PredictionRequest {
  std::string name;                  ///< Name of the plan's file, for messages.
  std::vector<std::string> changes;  ///< Changes to try: "FIELD=VALUE", "FIELD=2x".
  std::optional<tune::TrainingRun> run;
  MemoryHeadroom reserve;
  bool timeline = false;  ///< True: record the events of the step.
};

/// The result of the command `stepwright predict`.
struct PredictionAnswer {
  /// Prediction without the changes; nullopt: there are no changes.
  std::optional<simulate::Prediction> before;
  simulate::Prediction prediction;  ///< Prediction with the changes.
  std::optional<tune::TrainingRun> run;
  /// Changes that would let the plan fit in memory; empty: it fits.
  std::vector<check::RemedyWithFlags> remedies;
};

/// Predicts a plan. Fails with `kInput` if a change is invalid or makes the plan illegal.
PredictionAnswer answer_prediction(plan::PlannedJob planned, const PredictionRequest& request);

/// Returns the document of `predict --json` (docs/formats.md).
nlohmann::ordered_json prediction_answer_json(const PredictionAnswer& answer);

/// Returns the HTML page of `predict --report`.
std::string prediction_report(const PredictionAnswer& answer);

}  // namespace stepwright::answers
