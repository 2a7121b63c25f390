#include "stepwright/study/compare.h"

#include <chrono>
#include <nlohmann/json.hpp>

#include "stepwright/cost/cost_model.h"
#include "stepwright/memory/memory.h"
#include "stepwright/plan/files.h"
#include "stepwright/simulate/price/room.h"
#include "stepwright/study/inter_operator.h"
#include "stepwright/tune/baseline.h"
#include "stepwright/tune/free_kernels.h"
#include "stepwright/tune/tune.h"

namespace stepwright::study {
namespace {

using Json = nlohmann::ordered_json;

/// Calls `choose` to fill in a choice, and measures its time.
template <class Choose>
SearchMethodChoice timed(const char* by, Choose choose) {
  SearchMethodChoice choice{.by = by, .plan = {}};
  const auto start = std::chrono::steady_clock::now();
  choose(choice);
  choice.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return choice;
}

}  // namespace

SearchMethodComparison compare_searches(const plan::Job& given) {
  const plan::Job job = tune::with_fastest_attention_kernel(given);
  const cost::CostModel cost(job);
  const simulate::AvailablePlanMemory room = simulate::plan_memory_limit(job);
  SearchMethodComparison comparison{.job = job, .choices = {}};
  comparison.choices.push_back(timed("stepwright", [&](SearchMethodChoice& choice) {
    const tune::TuneResult result = tune::tune(job, {.top = 1});
    choice.evaluated = result.space.priced;
    if (!result.plans.front().fits) return;
    choice.plan = result.plans.front().plan;
    choice.step_time_s = result.plans.front().step_time_s;
  }));
  comparison.choices.push_back(timed("rule of thumb", [&](SearchMethodChoice& choice) {
    const auto found = tune::rule_of_thumb_plan(job, cost, room);
    if (!found) return;
    choice.plan = found->plan;
    choice.step_time_s = found->step_time_s;
    choice.evaluated = 1;
  }));
  comparison.choices.push_back(timed("Alpa-style", [&](SearchMethodChoice& choice) {
    const auto found = search_plan_by_alpa_method(job, cost, room);
    if (!found) return;
    choice.plan = found->plan;
    choice.step_time_s = found->step_time_s;
    choice.evaluated = found->stages_profiled + found->plans_priced;
  }));
  return comparison;
}

Json search_comparison_json(const SearchMethodComparison& comparison) {
  Json out{{"variable", "search"}, {"choices", Json::array()}};
  for (const SearchMethodChoice& choice : comparison.choices) {
    Json entry{{"by", choice.by}, {"evaluated", choice.evaluated}, {"seconds", choice.seconds}};
    if (choice.plan) {
      entry["step_time_s"] = choice.step_time_s;
      entry["plan"] = plan::plan_json({comparison.job, *choice.plan});
    }
    out["choices"].push_back(std::move(entry));
  }
  return out;
}

}  // namespace stepwright::study
