#include "stepwright/whole_run/asked_run.h"

#include <nlohmann/json.hpp>

#include "stepwright/core/error.h"
#include "stepwright/tune/alternatives.h"

namespace stepwright::whole_run {
namespace {

void add_run(nlohmann::ordered_json& entry, const tune::TuneResult& result, const plan::Plan& plan,
             const tune::TrainingLengthAndPrice& run) {
  tune::add_training_run_cost_json(entry, result.job, result.devices_idle, run);
  entry["whole_run"] = requested_run_json(simulate::predict_plan({result.job, plan}),
                                          {.run = run, .idle = idle_devices_of_search(result)});
}

}  // namespace

IdleDevices idle_devices_of_search(const tune::TuneResult& result) {
  return {.devices = result.devices_idle, .nodes = result.spares ? result.spares->nodes : 0};
}

plan::TrainingRunSettings whole_run_settings(const plan::Job& job,
                                             const RequestedTrainingRun& asked) {
  plan::TrainingRunSettings settings = job.run;
  if (asked.run) settings.tokens = asked.run->tokens;
  if (asked.run && asked.run->price_per_gpu_hour) {
    settings.price_per_gpu_hour = asked.run->price_per_gpu_hour;
  }
  if (!settings.tokens) settings.tokens = 1e12;
  return settings;
}

nlohmann::ordered_json requested_run_json(const simulate::PlanPrediction& prediction,
                                          const RequestedTrainingRun& asked) {
  const plan::TrainingRunSettings settings = whole_run_settings(prediction.planned.job, asked);
  try {
    return run_summary_json(predict_training_run(prediction, settings, asked.idle));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kInput) throw;
    return {{"tokens", *settings.tokens}, {"refused", error.what()}};
  }
}

void add_training_runs_json(nlohmann::ordered_json& answer, const tune::TuneResult& result,
                            const tune::TrainingLengthAndPrice& run) {
  for (std::size_t i = 0; i < result.plans.size(); ++i) {
    add_run(answer["plans"][i], result, result.plans[i].plan, run);
  }
  const std::vector<tune::AlternativePlan> others = tune::fastest_plan_of_each_family(result);
  for (std::size_t i = 0; i < others.size(); ++i) {
    add_run(answer["alternatives"][i], result, others[i].tuned.plan, run);
  }
}

}  // namespace stepwright::whole_run
