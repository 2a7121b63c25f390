#include "stepwright/tune/two_strands.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "stepwright/memory/memory.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/laws/laws.h"
#include "stepwright/plan/laws/legality.h"
#include "stepwright/schedule/kinds.h"
#include "stepwright/simulate/price/room.h"
#include "stepwright/tune/frameworks.h"
#include "stepwright/tune/local_search.h"

namespace stepwright::tune {
namespace {

/// Gains below this share of the step are not reported.
constexpr double kWorthStrands = 0.01;

/// Most operators simulated: some tenths of a second on two cores.
constexpr std::int64_t kMostPlayedStrands = 400'000;

/// Returns the job with two strands as its only choice of strands.
plan::Job with_strands(const plan::Job& job) {
  plan::Job strands = job;
  strands.space.strands = {2};
  strands.space.schedule.clear();
  for (const auto& [kind, name] : schedule::kScheduleKindNames) {
    if (schedule::traits_of(kind).pairs && schedule::traits_of(kind).runs)
      strands.space.schedule.push_back(kind);
  }
  return strands;
}

/// Returns the best plan changed to each schedule of two strands. Where chunks go down and up
/// again, the last position holds more, so inputs that are gathered again are tried, too.
std::vector<plan::Plan> changed(const plan::Plan& best, const SearchSpaceDimensions& space) {
  std::vector<plan::Plan> plans;
  for (const schedule::PipelineScheduleKind kind : space.schedule) {
    const schedule::ChunksPerPositionRange range =
        schedule::chunk_range(kind, best.parallel.pipeline);
    plan::Plan plan = best;
    plan.layers.clear();
    plan.schedule = {.kind = kind,
                     .chunks = std::clamp(best.schedule.chunks, range.least, range.most),
                     .strands = 2};
    plans.push_back(plan);
    if (plan.tensor_input == plan::GatheredInputPolicy::kRegather) continue;
    plan.tensor_input = plan::GatheredInputPolicy::kRegather;
    plans.push_back(plan);
  }
  return plans;
}

/// Returns the plans that are legal, that the framework runs, and that fit by their price.
std::vector<PlanCandidate> possible(const plan::Job& job, const SearchSpaceDimensions& space,
                                    const std::vector<plan::Plan>& plans,
                                    SimulatedSchedulePrices& prices) {
  std::vector<PlanCandidate> candidates;
  const simulate::AvailablePlanMemory room = simulate::plan_memory_limit(job);
  for (const plan::Plan& plan : plans) {
    if (plan::first_broken_rule(job, plan) || !framework_supports_plan_unchanged(job, space, plan))
      continue;
    const simulate::PlanPrice price = prices.closed_form_price(plan);
    if (!room.fits_in_memory(price)) continue;
    candidates.push_back({price.seconds, plan, price});
  }
  return candidates;
}

}  // namespace

std::optional<TwoStrandsGain> gain_of_two_micro_batch_streams(const TuneResult& result,
                                                              const TuneOptions& options) {
  const TunedPlan& best = result.plans.front();
  if (!best.fits || !result.job.space.strands.empty()) return std::nullopt;
  const plan::Job job = with_strands(result.job);
  const cost::CostModel cost(job);
  SimulatedSchedulePrices prices(job, cost, simulate::SharedPricerCaches{}, kMostPlayedStrands);
  const SearchSpaceDimensions space = search_space_dimensions(job);
  const SearchRunOptions running{.threads = search_thread_count(options), .progress = {}};
  PlanEvaluator evaluation(job, cost, running);
  const std::vector<PlanCandidate> candidates =
      possible(job, space, changed(best.plan, space), prices);
  if (candidates.empty()) return std::nullopt;
  std::vector<const PlanCandidate*> starts;
  for (const PlanCandidate& candidate : candidates) starts.push_back(&candidate);
  evaluation.simulate_candidates(starts);
  if (evaluation.fitting() == 0) return std::nullopt;
  improve_best_plan_by_local_search(evaluation, prices, space, simulate::plan_memory_limit(job));
  TwoStrandsGain gain{.tuned = evaluation.ranked_plans().front()};
  gain.gain_s = best.step_time_s - gain.tuned.step_time_s;
  if (gain.gain_s < kWorthStrands * best.step_time_s) return std::nullopt;
  return gain;
}

nlohmann::ordered_json two_micro_batch_streams_gain_json(
    const TuneResult& result, const std::optional<TwoStrandsGain>& gain) {
  if (!gain) return nullptr;
  return {{"plan", plan::plan_json({result.job, gain->tuned.plan})},
          {"step_time_s", gain->tuned.step_time_s},
          {"gain_s", gain->gain_s},
          {"peak_memory_bytes", static_cast<std::int64_t>(gain->tuned.peak_memory_bytes)}};
}

}  // namespace stepwright::tune
