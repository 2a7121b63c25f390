#include "stepwright/answers/plan_names.h"

#include <nlohmann/json.hpp>

#include "stepwright/plan/choices/codes.h"
#include "stepwright/plan/choices/words.h"
#include "stepwright/tune/alternatives.h"

namespace stepwright::answers {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

Json plan_code_and_words_json(const plan::Plan& plan, const plan::Job& job) {
  return {{"code", plan::short_plan_code(plan)}, {"words", plan::plan_description(plan, job)}};
}

Json listed_plan_names_json(const tune::TuneResult& result,
                            const std::optional<tune::TuneSweep>& sweep) {
  Json names{{"plans", Json::array()}, {"alternatives", Json::array()}, {"pareto", Json::array()}};
  const auto add = [&](const char* list, const plan::Plan& plan) {
    names[list].push_back(plan_code_and_words_json(plan, result.job));
  };
  for (const tune::TunedPlan& tuned : result.plans) add("plans", tuned.plan);
  for (const tune::AlternativePlan& other : tune::fastest_plan_of_each_family(result))
    add("alternatives", other.tuned.plan);
  for (const tune::ParetoPoint& point : result.pareto) add("pareto", point.plan);
  if (result.baseline)
    names["baseline"] = plan_code_and_words_json(result.baseline->plan, result.job);
  if (!sweep) return names;
  names["sweep"] = Json::array();
  for (const tune::TuneSweepPoint& point : sweep->points) {
    names["sweep"].push_back(point.best ? plan_code_and_words_json(point.best->plan, point.job)
                                        : Json(nullptr));
  }
  return names;
}

}  // namespace stepwright::answers
