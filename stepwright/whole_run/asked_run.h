#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "stepwright/simulate/prediction.h"
#include "stepwright/tune/training_run.h"
#include "stepwright/tune/tune.h"
#include "stepwright/whole_run/whole_run.h"

namespace stepwright::whole_run {

/// The training run that a user asks about, given beside the job, and the devices that the plan
/// leaves idle.
struct RequestedRun {
  std::optional<tune::TrainingRun> run;
  IdleDevices idle = {};
};

/// Returns the devices of a job's cluster that a search's best plan leaves idle.
IdleDevices idle_devices_of_search(const tune::TuneResult& result);

/// Returns the settings of a whole run: those of the job, overridden by those asked about; a
/// trillion tokens if neither gives a number.
plan::RunSettings run_settings(const plan::Job& job, const RequestedRun& asked);

/// Returns the member `whole_run` in the answers of `predict` and `tune` (docs/formats.md,
/// "Prediction"): a summary of the run, or the reason why it would never end.
nlohmann::ordered_json requested_run_json(const simulate::Prediction& prediction,
                                          const RequestedRun& asked);

/// Adds `days`, `gpu_hours`, `cost` and `whole_run` to each of the `plans` and `alternatives` in a
/// search's answer.
void add_whole_runs(nlohmann::ordered_json& answer, const tune::TuneResult& result,
                    const tune::TrainingRun& run);

}  // namespace stepwright::whole_run
