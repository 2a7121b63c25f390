#include <nlohmann/json.hpp>

#include "stepwright/check/check.h"
#include "stepwright/framework_files/import_json.h"
#include "stepwright/memory/allocated.h"
#include "stepwright/memory/memory_json.h"
#include "stepwright/plan/files.h"

namespace stepwright::check {
namespace {

using Json = nlohmann::ordered_json;

void add_prediction(Json& json, const JobCheckResult& check) {
  const simulate::PlanPrediction& prediction = *check.prediction;
  const Json memory = memory::memory_json(
      prediction.memory,
      memory::pytorch_allocated_memory(prediction.planned.job, prediction.program));
  json["fits"] = check.fits();
  json["verdict"] = memory["verdict"];
  json["p_fits"] = prediction.memory.p_fits;
  json["fullest"] = {{"stage", check.fullest.stage}, {"rank", check.fullest.first_rank}};
  for (const char* key : {"host_memory_bytes", "host_capacity_bytes", "host_kinds"}) {
    if (memory.contains(key)) json[key] = memory[key];
  }
  if (!check.fits()) {
    json["over_by_bytes"] = memory["over_by_bytes"];
  }
  json["step_time_s"] = prediction.step_time_s();
  json["low_s"] = prediction.interval.low * prediction.step_time_s();
  json["high_s"] = prediction.interval.high * prediction.step_time_s();
  json["stages"] = memory["stages"];
}

/// Returns true or false; null if it is not known.
Json starts_json(JobStartVerdict starts) {
  return starts == JobStartVerdict::kUnknown ? Json(nullptr)
                                             : Json(starts == JobStartVerdict::kYes);
}

Json gains_json(const JobCheckResult& check) {
  Json gains = Json::array();
  if (!check.better) return gains;
  for (std::size_t i = 0; i < check.better->changes.size(); ++i) {
    const tune::PlanChange& change = check.better->changes[i];
    gains.push_back({{"in_files", check.in_files[i]},
                     {"set", change.set},
                     {"gain_s", change.gain_s},
                     {"step_time_s", change.reached.step_time_s},
                     {"kind", name_of(tune::kChangeKindNames, change.kind)}});
  }
  return gains;
}

}  // namespace

Json job_check_json(const JobCheckResult& check, const std::string& fault) {
  Json json{{"plan", plan::plan_json(check.imported.planned)},
            {"starts", starts_json(check.starts())}};
  if (check.is_plan_legal()) {
    add_prediction(json, check);
  } else {
    json["fits"] = false;
    json["verdict"] = nullptr;
  }
  json["fault"] = fault.empty() ? Json(nullptr) : Json(fault);
  json["gain"] = check.step_time_saving_share();
  json["gains"] = gains_json(check);
  json["remedies"] = memory_remedies_json(check.remedies);
  const Json lists = framework_files::imported_plan_json(check.imported);
  for (const char* list : {"from", "read", "assumed", "not_read", "notes"})
    json[list] = lists[list];
  return json;
}

}  // namespace stepwright::check
