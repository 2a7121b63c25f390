#include "stepwright/tune/more_memory.h"

#include <nlohmann/json.hpp>

#include "stepwright/memory/memory.h"
#include "stepwright/plan/files.h"
#include "stepwright/simulate/price/room.h"
#include "stepwright/tune/local_search.h"

namespace stepwright::tune {
namespace {

/// Gains below this share of the step are left out.
constexpr double kWorthMemory = 0.001;

/// Most operators simulated for each amount of memory: all four amounts take half a second on two
/// cores.
constexpr std::int64_t kMostPlayed = 1'000'000;

/// An amount of memory to try: a multiple of the capacity, or one step more risk (`riskier`) at the
/// same capacity.
struct Amount {
  double times = 1;
  bool riskier = false;
};
constexpr Amount kAmounts[] = {
    {.times = 1, .riskier = true}, {.times = 1.25}, {.times = 1.5}, {.times = 2}};

/// Probabilities of fitting that are asked for, one step of risk apart.
constexpr double kConfidences[] = {0.75, plan::kMinMemoryFitConfidence};

/// Returns the bytes that plans may fill with one step more risk: all of the memory where a reserve
/// is stated.
double riskier_bytes(const plan::Job& job) {
  const double confidence = memory::memory_fit_confidence(job);
  if (job.objective.memory_reserve >= 0 || confidence == 0)
    return memory::device_memory_capacity_bytes(job);
  plan::Job riskier = job;
  for (const double lower : kConfidences) {
    riskier.objective.memory_confidence = lower;
    if (lower < confidence) break;
  }
  return memory::usable_memory_bytes(riskier);
}

plan::Job with_memory(const plan::Job& job, const Amount& amount) {
  const double usable = amount.riskier ? riskier_bytes(job) : memory::usable_memory_bytes(job);
  plan::Job larger = job;
  larger.objective.memory_reserve = 1 - usable / memory::device_memory_capacity_bytes(job);
  larger.objective.memory_limit_bytes = amount.times * memory::device_memory_capacity_bytes(job);
  return larger;
}

/// Returns by what share a plan's price is above its simulated time. Prices of neighbours are
/// assumed to be off by the same share, so that neighbours priced above it are not simulated.
double price_error(SimulatedSchedulePrices& prices, const TunedPlan& simulated) {
  PlanCandidate one{.plan = simulated.plan};
  PlanCandidate* const candidates[] = {&one};
  prices.reprice_candidates_by_played_schedules(candidates, 1);
  return 1 - simulated.step_time_s / one.price.seconds;
}

/// Returns the best plan that a local search finds from another plan.
TunedPlan followed(PlanEvaluator& evaluation, SimulatedSchedulePrices& prices,
                   const SearchSpaceDimensions& space, const TunedPlan& from) {
  evaluation.add_simulated_plan(from);
  improve_best_plan_by_local_search(evaluation, prices, space,
                                    simulate::plan_memory_limit(evaluation.job()),
                                    price_error(prices, from));
  return evaluation.ranked_plans().front();
}

}  // namespace

std::vector<MoreMemoryGain> step_time_gains_of_more_memory(const TuneResult& result,
                                                           const TuneOptions& options) {
  const TunedPlan& best = result.plans.front();
  std::vector<MoreMemoryGain> steps;
  if (!best.fits) return steps;
  const cost::CostModel cost(result.job);
  SimulatedSchedulePrices prices(result.job, cost, simulate::SharedPricerCaches{}, kMostPlayed);
  const SearchSpaceDimensions space = search_space_dimensions(result.job);
  const SearchRunOptions running{.threads = search_thread_count(options), .progress = {}};
  TunedPlan last = best;
  for (const Amount& amount : kAmounts) {
    const plan::Job job = with_memory(result.job, amount);
    PlanEvaluator evaluation(job, cost, running);
    TunedPlan found = followed(evaluation, prices, space, last);
    if (!(found.step_time_s < last.step_time_s * (1 - kWorthMemory))) continue;
    last = found;
    steps.push_back({.capacity_bytes = memory::device_memory_capacity_bytes(job),
                     .reserve_share = job.objective.memory_reserve,
                     .tuned = std::move(found),
                     .gain_s = best.step_time_s - last.step_time_s});
  }
  return steps;
}

nlohmann::ordered_json more_memory_json(const TuneResult& result,
                                        const std::vector<MoreMemoryGain>& steps) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const MoreMemoryGain& step : steps) {
    list.push_back(
        {{"capacity_bytes", static_cast<std::int64_t>(step.capacity_bytes)},
         {"reserve_share", step.reserve_share},
         {"p_fits", step.tuned.p_fits},
         {"plan", plan::plan_json({result.job, step.tuned.plan})},
         {"step_time_s", step.tuned.step_time_s},
         {"gain_s", step.gain_s},
         {"peak_memory_bytes", static_cast<std::int64_t>(step.tuned.peak_memory_bytes)}});
  }
  return list;
}

}  // namespace stepwright::tune
