#include <cstdint>
#include <nlohmann/json.hpp>

#include "stepwright/phases/generation.h"
#include "stepwright/phases/pools.h"
#include "stepwright/plan/choices/codes.h"
#include "stepwright/plan/files.h"

namespace stepwright::phases {
namespace {

using Json = nlohmann::ordered_json;

std::int64_t generating(const PhasedStep& step) {
  for (const StepPhase& phase : step.phases) {
    if (phase.kind == StepPhaseKind::kGeneration && phase.beside) return phase.devices;
  }
  return 0;
}

/// Totals that both a split and the whole answer contain.
Json totals_json(const PhasedStep& step) {
  return {{"step_time_s", step.step_s},
          {"low_s", step.low_s},
          {"high_s", step.high_s},
          {"training_s", step.training_s},
          {"tokens", step.trained_tokens_of_step()},
          {"tokens_per_s_per_device", step.tokens_per_s_per_device()},
          {"devices", step.devices},
          {"training_devices", step.update.planned.job.cluster.devices()},
          {"generation_devices", generating(step)}};
}

Json phases_json(const PhasedStep& step) {
  Json list = Json::array();
  for (const StepPhase& phase : step.phases) {
    Json entry = {{"phase", name_of(kPhaseKindNames, phase.kind)},
                  {"time_s", phase.seconds},
                  {"devices", phase.devices},
                  {"beside", phase.beside}};
    if (phase.peak_bytes > 0) {
      entry["peak_memory_bytes"] = static_cast<std::int64_t>(phase.peak_bytes);
    }
    if (phase.assumed())
      entry["assumed_range"] = {{"low_s", phase.low_s}, {"high_s", phase.high_s}};
    list.push_back(std::move(entry));
  }
  return list;
}

/// Devices on which the critic alone is trained; 0: there are none.
std::int64_t critic_devices(const PhasedStep& step) {
  const plan::SecondModel& critic = step.method().critic;
  return critic.place == plan::SecondModelPlace::kOther ? critic.devices : 0;
}

}  // namespace

Json phased_step_json(const PhasedStep& step) {
  Json json = {{"method", name_of(plan::kMethodNames, step.method().kind)},
               {"updates", step.method().updates}};
  json.update(totals_json(step));
  json["fits"] = step.fits();
  json["verdict"] = name_of(memory::kFitVerdictNames, step.memory_fit_verdict_of_step());
  json["p_fits"] = step.probability_of_fitting();
  json["peak_memory_bytes"] = static_cast<std::int64_t>(step.peak_bytes);
  json["capacity_bytes"] = static_cast<std::int64_t>(step.update.memory.capacity_bytes);
  json["phases"] = phases_json(step);
  if (step.method().rollout) {
    json["generated_tokens"] = step.generated;
    json["weight_sync"] = {{"bytes", step.sync.bytes},
                           {"gather_s", step.sync.gather_s},
                           {"broadcast_s", step.sync.broadcast_s}};
  }
  if (step.method().dispatch) json["dispatch_s"] = sequence_dispatch_s(step.update.planned.job);
  json["plan"] = plan::plan_json(step.update.planned);
  json["notes"] = step.notes;
  return json;
}

Json device_splits_json(const DevicePoolSplits& splits) {
  Json list = Json::array();
  for (const PhasedStep& step : splits.steps) {
    Json entry = totals_json(step);
    entry["generation_s"] = step.seconds_of_phase(StepPhaseKind::kGeneration);
    if (critic_devices(step) > 0) entry["critic_devices"] = critic_devices(step);
    entry["code"] = plan::short_plan_code(step.update.planned.plan);
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace stepwright::phases
