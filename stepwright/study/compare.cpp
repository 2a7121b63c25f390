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
Choice timed(const char* by, Choose choose) {
  Choice choice{.by = by, .plan = {}};
  const auto start = std::chrono::steady_clock::now();
  choose(choice);
  choice.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return choice;
}

}  // namespace

SearchComparison compare_searches(const plan::Job& given) {
  const plan::Job job = tune::with_fastest_attention(given);
  const cost::CostModel cost(job);
  const simulate::Room room = simulate::plan_memory_limit(job);
  SearchComparison comparison{.job = job, .choices = {}};
  comparison.choices.push_back(timed("stepwright", [&](Choice& choice) {
    const tune::TuneResult result = tune::tune(job, {.top = 1});
    choice.evaluated = result.space.priced;
    if (!result.plans.front().fits) return;
    choice.plan = result.plans.front().plan;
    choice.step_time_s = result.plans.front().step_time_s;
  }));
  comparison.choices.push_back(timed("rule of thumb", [&](Choice& choice) {
    const auto found = tune::rule_of_thumb(job, cost, room);
    if (!found) return;
    choice.plan = found->plan;
    choice.step_time_s = found->step_time_s;
    choice.evaluated = 1;
  }));
  comparison.choices.push_back(timed("Alpa-style", [&](Choice& choice) {
    const auto found = inter_operator_search(job, cost, room);
    if (!found) return;
    choice.plan = found->plan;
    choice.step_time_s = found->step_time_s;
    choice.evaluated = found->stages_profiled + found->plans_priced;
  }));
  return comparison;
}

Json search_comparison_json(const SearchComparison& comparison) {
  Json out{{"variable", "search"}, {"choices", Json::array()}};
  for (const Choice& choice : comparison.choices) {
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
