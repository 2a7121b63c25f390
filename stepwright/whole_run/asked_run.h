#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "stepwright/simulate/prediction.h"
#include "stepwright/tune/training_run.h"
#include "stepwright/tune/tune.h"
#include "stepwright/whole_run/whole_run.h"

namespace stepwright::whole_run {

/// A user's question about a whole training run, besides the job: its length, and the devices that
/// the plan leaves idle.
struct RequestedTrainingRun {
  std::optional<tune::TrainingLengthAndPrice> run;
  IdleDevices idle = {};
};

/// Returns the devices of a job's cluster that the best plan of a search leaves idle.
IdleDevices idle_devices_of_search(const tune::TuneResult& result);

/// Returns the settings of a whole training run: the user's where given, else the job's; 10^12
/// tokens if neither states a number.
plan::TrainingRunSettings whole_run_settings(const plan::Job& job,
                                             const RequestedTrainingRun& asked);

/// Returns the JSON value of the key `whole_run` in the answers of `predict` and `tune`
/// (docs/formats.md, "Prediction"): a summary of the whole training run, or the reason why it would
/// never end.
nlohmann::ordered_json requested_run_json(const simulate::PlanPrediction& prediction,
                                          const RequestedTrainingRun& asked);

/// Adds the duration and cost of the whole training run (`days`, `gpu_hours`, `cost`, `whole_run`)
/// to each of the `plans` and `alternatives` in the JSON answer of a search.
void add_training_runs_json(nlohmann::ordered_json& answer, const tune::TuneResult& result,
                            const tune::TrainingLengthAndPrice& run);

}  // namespace stepwright::whole_run
