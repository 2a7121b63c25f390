#include <nlohmann/json.hpp>

#include "stepwright/whole_run/duration.h"
#include "stepwright/whole_run/whole_run.h"

namespace stepwright::whole_run {
namespace {

using Json = nlohmann::ordered_json;

/// Returns a duration together with its GPU-hours and cost.
Json priced(const TrainingRunPrediction& run, double seconds) {
  Json json = {{"days", seconds / kDayS}, {"gpu_hours", run.gpu_hours(seconds)}};
  if (const auto cost = run.cost(seconds)) json["cost"] = *cost;
  return json;
}

Json losses_json(const TrainingRunPrediction& run) {
  Json list = Json::array();
  for (const auto& [loss, name] : kRunLossNames) {
    const double seconds = run.time.losses_s[static_cast<std::size_t>(loss)];
    Json entry = {{"what", name}, {"share", seconds / run.time.wall_s}};
    entry.update(priced(run, seconds));
    list.push_back(std::move(entry));
  }
  return list;
}

Json checkpoints_json(const TrainingRunPrediction& run) {
  const TrainingRunParameters& process = run.process;
  return {{"bytes", run.checkpoint.bytes},
          {"exposed_s", process.copy_s},
          {"hidden_s", process.write_s},
          {"every_steps", process.checkpoint_every},
          {"interval_s", run.training_between_checkpoints_s(process.checkpoint_every)},
          {"best_every_steps", run.best_every},
          {"best_interval_s", run.training_between_checkpoints_s(run.best_every)}};
}

}  // namespace

Json whole_run_json(const TrainingRunPrediction& run) {
  const TrainingRunParameters& process = run.process;
  Json json = {{"tokens", run.tokens},
               {"steps", process.steps},
               {"step_time_s", process.step_s},
               {"devices", run.devices},
               {"spare_nodes", process.spare_nodes},
               {"useful_share", run.useful_training_time_share()},
               {"useful_low", run.useful_low},
               {"useful_high", run.useful_high}};
  json.update(priced(run, run.time.wall_s));
  json["low"] = priced(run, run.low_s);
  json["high"] = priced(run, run.high_s);
  json["failures"] = run.time.failures;
  json["failure_every_s"] =
      process.failures_per_s > 0 ? Json(1 / process.failures_per_s) : Json(nullptr);
  json["restart_s"] = process.restart_s;
  if (run.best_spare_nodes) json["best_spare_nodes"] = *run.best_spare_nodes;
  json["checkpoints"] = checkpoints_json(run);
  json["steps_alone"] = priced(run, run.all_training_steps_s());
  json["losses"] = losses_json(run);
  json["assumed"] = run.assumed;
  return json;
}

Json run_summary_json(const TrainingRunPrediction& run) {
  const Json all = whole_run_json(run);
  Json summary = Json::object();
  for (const char* key : {"tokens", "useful_share", "useful_low", "useful_high", "days",
                          "gpu_hours", "cost", "low", "high", "steps_alone"}) {
    if (all.contains(key)) summary[key] = all[key];
  }
  return summary;
}

Json simulated_runs_json(const SimulatedRuns& runs) {
  Json losses = Json::object();
  for (const auto& [loss, name] : kRunLossNames) {
    losses[std::string(name)] = runs.mean.losses_s[static_cast<std::size_t>(loss)] / kDayS;
  }
  return {{"runs", runs.runs},
          {"days", runs.mean.wall_s / kDayS},
          {"error_days", runs.mean_wall_time_error_s() / kDayS},
          {"low_days", runs.low_s / kDayS},
          {"high_days", runs.high_s / kDayS},
          {"failures", runs.mean.failures},
          {"losses_days", losses}};
}

}  // namespace stepwright::whole_run
