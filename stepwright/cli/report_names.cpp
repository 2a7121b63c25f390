#include "stepwright/cli/report_names.h"

#include <nlohmann/json.hpp>

#include "stepwright/plan/codes.h"
#include "stepwright/plan/words.h"
#include "stepwright/tune/alternatives.h"

namespace stepwright {

using Json = nlohmann::ordered_json;

Json plan_name(const Plan& plan, const Job& job) {
  return {{"code", plan_code(plan)}, {"words", plan_words(plan, job)}};
}

Json plan_names(const TuneResult& result, const std::optional<Sweep>& sweep) {
  Json names{{"plans", Json::array()}, {"alternatives", Json::array()}, {"pareto", Json::array()}};
  const auto add = [&](const char* list, const Plan& plan) {
    names[list].push_back(plan_name(plan, result.job));
  };
  for (const TunedPlan& tuned : result.plans) add("plans", tuned.plan);
  for (const Alternative& other : alternatives(result)) add("alternatives", other.tuned.plan);
  for (const FrontPoint& point : result.pareto) add("pareto", point.plan);
  if (result.baseline) names["baseline"] = plan_name(result.baseline->plan, result.job);
  if (!sweep) return names;
  names["sweep"] = Json::array();
  for (const SweepPoint& point : sweep->points) {
    names["sweep"].push_back(point.best ? plan_name(point.best->plan, point.job) : Json(nullptr));
  }
  return names;
}

}  // namespace stepwright
