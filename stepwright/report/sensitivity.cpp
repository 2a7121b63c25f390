#include "stepwright/report/sensitivity.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "stepwright/core/error.h"
#include "stepwright/plan/files.h"

namespace stepwright::report {
namespace {

using Json = nlohmann::ordered_json;

struct Change {
  std::string_view what;
  std::string_view set;  ///< The change, as an argument of `predict --set`.
};
constexpr Change kChanges[] = {{"NICs twice as fast", "cluster.nic=2x"},
                               {"NICs half as fast", "cluster.nic=0.5x"},
                               {"Batch twice as large", "batch.sequences=2x"},
                               {"Batch half as large", "batch.sequences=0.5x"},
                               {"Sequences twice as long", "batch.length=2x"},
                               {"Sequences half as long", "batch.length=0.5x"},
                               {"Micro-batch of twice the sequences", "micro_batch=2x"}};

Json figures(const simulate::PlanPrediction& changed) {
  return {
      {"step_time_s", changed.step_time_s()},
      {"tokens_per_s_per_device", changed.tokens_per_s_per_device},
      {"tokens_per_s", changed.tokens_per_s()},
      {"mfu", changed.mfu},
      {"peak_memory_bytes", static_cast<std::int64_t>(changed.memory.peak_bytes)},
      {"fits", changed.memory.fits()},
      {"verdict", name_of(memory::kFitVerdictNames, changed.memory.memory_fit_verdict_of_job())},
      {"devices", changed.program.ranks}};
}

Json entry(const Change& change, bool searched) {
  return {{"what", change.what}, {"set", change.set}, {"searched", searched}};
}

Json with_the_plan(const simulate::PlanPrediction& prediction, const Change& change) {
  Json result = entry(change, false);
  try {
    result.update(figures(simulate::predict_plan(
        plan::plan_with_field(prediction.planned, std::string(change.set)))));
  } catch (const Error& error) {
    result["refused"] = error.what();
  }
  return result;
}

/// Returns the step with one node fewer, with the plan that is then best.
Json with_a_node_fewer(const simulate::PlanPrediction& prediction, const SearchAgain& search) {
  plan::Job job = prediction.planned.job;
  --job.cluster.nodes;
  const std::string set = fmt::format("cluster.nodes={}", job.cluster.nodes);
  Json result = entry({"There were one node fewer", set}, true);
  try {
    if (const std::optional<simulate::PlanPrediction> best = search(job)) {
      result.update(figures(*best));
    } else {
      result["refused"] = "no plan fits";
    }
  } catch (const Error& error) {
    result["refused"] = error.what();
  }
  return result;
}

}  // namespace

Json step_time_sensitivity_json(const simulate::PlanPrediction& prediction,
                                const SearchAgain& search) {
  Json list = Json::array();
  for (const Change& change : kChanges) {
    const bool alone = prediction.planned.job.cluster.nodes == 1;
    if (alone && change.set.starts_with("cluster.nic")) continue;
    list.push_back(with_the_plan(prediction, change));
  }
  if (search && prediction.planned.job.cluster.nodes > 1) {
    list.push_back(with_a_node_fewer(prediction, search));
  }
  return {{"now", figures(prediction)}, {"changes", list}};
}

}  // namespace stepwright::report
