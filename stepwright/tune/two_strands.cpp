#include "stepwright/tune/two_strands.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "stepwright/memory/memory.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/laws/laws.h"
#include "stepwright/plan/legality.h"
#include "stepwright/simulate/price/room.h"
#include "stepwright/tune/frameworks.h"
#include "stepwright/tune/local_search.h"

namespace stepwright {
namespace {

/// Smaller gains, as shares of the step, are not told.
constexpr double kWorthStrands = 0.01;

/// Operators simulated: some tenths of a second on two cores.
constexpr std::int64_t kMostPlayedStrands = 400'000;

/// The job with no other choice of schedule.
Job with_strands(const Job& job) {
  Job strands = job;
  strands.space.strands = {2};
  strands.space.schedule.clear();
  for (const auto& [kind, name] : kScheduleNames) {
    if (traits_of(kind).pairs && traits_of(kind).runs) strands.space.schedule.push_back(kind);
  }
  return strands;
}

/// The best plan with each schedule of two strands; chunks down and up again hold more at the last
/// position, so that inputs gathered again are tried too.
std::vector<Plan> changed(const Plan& best, const Dimensions& space) {
  std::vector<Plan> plans;
  for (const ScheduleKind kind : space.schedule) {
    const ChunkRange range = chunk_range(kind, best.parallel.pipeline);
    Plan plan = best;
    plan.layers.clear();
    plan.schedule = {.kind = kind,
                     .chunks = std::clamp(best.schedule.chunks, range.least, range.most),
                     .strands = 2};
    plans.push_back(plan);
    if (plan.tensor_input == TensorInput::kRegather) continue;
    plan.tensor_input = TensorInput::kRegather;
    plans.push_back(plan);
  }
  return plans;
}

/// The plans that are legal, run there and fit by their price.
std::vector<Candidate> possible(const Job& job, const Dimensions& space,
                                const std::vector<Plan>& plans, PlayedPrices& prices) {
  std::vector<Candidate> candidates;
  const Room room = room_of(job);
  for (const Plan& plan : plans) {
    if (broken_rule(job, plan) || !runs_there(job, space, plan)) continue;
    const Price price = prices.price(plan);
    if (!room.holds(price)) continue;
    candidates.push_back({price.seconds, plan_text(plan), plan, price});
  }
  return candidates;
}

}  // namespace

std::optional<StrandsGain> two_strands(const TuneResult& result, const TuneOptions& options) {
  const TunedPlan& best = result.plans.front();
  if (!best.fits || !result.job.space.strands.empty()) return std::nullopt;
  const Job job = with_strands(result.job);
  const CostModel cost(job);
  PlayedPrices prices(job, cost, PriceStore{}, kMostPlayedStrands);
  const Dimensions space = dimensions(job);
  const Running running{.threads = thread_count(options), .progress = {}};
  Evaluation evaluation(job, cost, running);
  const std::vector<Candidate> candidates = possible(job, space, changed(best.plan, space), prices);
  if (candidates.empty()) return std::nullopt;
  std::vector<const Candidate*> starts;
  for (const Candidate& candidate : candidates) starts.push_back(&candidate);
  evaluation.run(starts);
  if (evaluation.fitting() == 0) return std::nullopt;
  search_locally(evaluation, prices, space, room_of(job));
  StrandsGain gain{.tuned = evaluation.ranked().front()};
  gain.gain_s = best.step_time_s - gain.tuned.step_time_s;
  if (gain.gain_s < kWorthStrands * best.step_time_s) return std::nullopt;
  return gain;
}

nlohmann::ordered_json two_strands_json(const TuneResult& result,
                                        const std::optional<StrandsGain>& gain) {
  if (!gain) return nullptr;
  return {{"plan", plan_json({result.job, gain->tuned.plan})},
          {"step_time_s", gain->tuned.step_time_s},
          {"gain_s", gain->gain_s},
          {"peak_memory_bytes", static_cast<std::int64_t>(gain->tuned.peak_memory_bytes)}};
}

}  // namespace stepwright
