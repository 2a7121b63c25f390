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

/// The options of a prediction.
struct PredictionRequest {
  std::string name;                  ///< Name of the plan's file, for messages.
  std::vector<std::string> changes;  ///< Changes to try: "FIELD=VALUE", "FIELD=2x".
  std::optional<tune::TrainingRun> run;
  MemoryReserve reserve;
  bool timeline = false;  ///< True if the events of the step are recorded.
};

/// All that `predict` says of a plan.
struct PredictionAnswer {
  /// Prediction of the plan as it is; nullopt without changes.
  std::optional<simulate::Prediction> before;
  simulate::Prediction prediction;  ///< Prediction of the plan with the changes.
  std::optional<tune::TrainingRun> run;
  std::vector<check::SaidRemedy> remedies;  ///< Changes that let it fit; empty: it fits.
};

/// Predicts a plan. Fails with `kInput` where a change is none, or where the plan is not legal
/// then.
PredictionAnswer answer_prediction(plan::PlannedJob planned, const PredictionRequest& request);

/// The document of `predict --json` (docs/formats.md).
nlohmann::ordered_json prediction_answer_json(const PredictionAnswer& answer);

/// The page of `predict --report`.
std::string prediction_report(const PredictionAnswer& answer);

}  // namespace stepwright::answers
