#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "stepwright/simulate/prediction.h"
#include "stepwright/tune/training_run.h"
#include "stepwright/tune/tune.h"
#include "stepwright/whole_run/whole_run.h"

namespace stepwright::whole_run {

/// The training run that a person asks about beside what the job states, and what stands idle.
struct AskedRun {
  std::optional<tune::TrainingRun> run;
  IdleDevices idle = {};
};

/// Devices that a search leaves idle of its job's cluster.
IdleDevices idle_of(const tune::TuneResult& result);

/// Settings of the whole run of a job's plan: those of the job, with those asked about in their
/// place; a trillion tokens where neither says how many.
plan::RunSettings run_settings(const plan::Job& job, const AskedRun& asked);

/// `whole_run` of the answers of `predict` and `tune` (docs/formats.md, "Prediction"): the run in
/// short, or why no run would end.
nlohmann::ordered_json asked_run_json(const simulate::Prediction& prediction,
                                      const AskedRun& asked);

/// Adds `days`, `gpu_hours`, `cost` and `whole_run` to each of the `plans` and `alternatives` of a
/// search's answer.
void add_runs(nlohmann::ordered_json& answer, const tune::TuneResult& result,
              const tune::TrainingRun& run);

}  // namespace stepwright::whole_run
