#include "stepwright/simulate/price/uneven.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <vector>

#include "stepwright/packing/micro_batches.h"
#include "stepwright/step/data_messages.h"

namespace stepwright::simulate {
namespace {

constexpr int kPlays = 128;          ///< Number of simulations of a schedule.
constexpr std::int64_t kRounds = 4;  ///< Simulated micro-batches, as a multiple of the stages.
/// Relative deviation of the simulated micro-batch sizes: waits grow in proportion to it.
constexpr double kDeviation = 0.02;
constexpr double kSkewStep = 0.25;        ///< Simulated skewnesses are multiples of it.
constexpr std::int64_t kDealt = 1 << 15;  ///< Most sequences that are dealt out to ranks.

/// Returns a standard normal deviate, equal on every machine (Box and Muller 1958).
double normal(std::mt19937_64& random) {
  const auto uniform = [&random] { return (static_cast<double>(random() >> 11U) + 0.5) * 0x1p-53; };
  const double radius = std::sqrt(-2 * std::log(uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

/// Returns the number of data-parallel ranks that wait for each other in every micro-batch.
std::int64_t ranks_in_step(const plan::Job& job, const plan::Plan& plan) {
  const std::int64_t data = plan.parallel.data;
  const step::ShardingGroups dense = step::dense_spread(plan);
  std::int64_t ranks = std::max(dense.state_shard_count(plan.sharding.parameters),
                                dense.state_shard_count(plan.sharding.gradients)) /
                       plan.parallel.context;
  if (job.model.experts) ranks = std::max(ranks, plan.parallel.expert);
  return std::clamp<std::int64_t>(ranks, 1, data);
}

/// Returns the seconds of turns if a micro-batch has equal work on every position and on each of
/// its chunks.
schedule::PipelineScheduleSeconds equal_parts(const schedule::ModelChunkPlacement& placement) {
  const double share = 1.0 / (3 * static_cast<double>(placement.chunks()));
  const schedule::ModelChunkWorkSeconds part{
      .forward = share, .backward = 2 * share, .data = share, .weight = share};
  const std::vector<schedule::ModelChunkWorkSeconds> chunks(
      static_cast<std::size_t>(placement.chunks()), part);
  schedule::PipelineScheduleSeconds seconds;
  seconds.parts.assign(static_cast<std::size_t>(placement.positions()), chunks);
  return seconds;
}

}  // namespace

UnevenMicroBatchWaitModel::PipelineMakespanExcess UnevenMicroBatchWaitModel::played(
    const Key& key) {
  const auto [entry, fresh] = known_.try_emplace(key);
  if (!fresh) return entry->second;
  const auto schedule = schedules_->turns(key.schedule);
  schedule::PipelineScheduleSeconds seconds = equal_parts(schedule->placement);
  const double even_s =
      schedule::makespan_s(player_.turn_end_seconds(schedule->order, schedule->turns, seconds));
  const double skewness = kSkewStep * static_cast<double>(key.skew_steps);
  std::mt19937_64 random(static_cast<std::uint64_t>(job_.documents->packing.seed));
  PipelineMakespanExcess made;
  double squares = 0;
  for (int play = 0; play < kPlays; ++play) {
    seconds.factors.clear();
    for (std::int64_t i = 0; i < key.schedule.micro_batches; ++i) {
      seconds.factors.push_back(1 +
                                kDeviation * packing::skewed_quantile(normal(random), skewness));
    }
    const double took_s =
        schedule::makespan_s(player_.turn_end_seconds(schedule->order, schedule->turns, seconds));
    const double longer = (took_s - even_s) / kDeviation;
    made.mean += longer / kPlays;
    squares += longer * longer / kPlays;
  }
  made.variance = std::max(0.0, squares - made.mean * made.mean) * kPlays / (kPlays - 1);
  return entry->second = made;
}

/// Returns the makespan of a plan's pipeline. With one position it is the sum of the micro-batches.
/// Beyond some rounds every further micro-batch adds the same.
UnevenMicroBatchWaitModel::PipelineMakespanExcess UnevenMicroBatchWaitModel::makespan(
    const plan::Plan& plan, double skewness) {
  const std::int64_t stages = plan.parallel.pipeline;
  const std::int64_t count = plan::micro_batches_per_pipeline(job_, plan);
  if (stages == 1) return {.mean = 0, .variance = static_cast<double>(count)};
  const std::int64_t most = kRounds * std::max(stages, plan.schedule.group);
  const std::int64_t some = std::min(count, most);
  Key key{{plan.schedule, stages, some}, std::llround(skewness / kSkewStep)};
  const PipelineMakespanExcess made = played(key);
  if (some == count) return made;
  const double fill = static_cast<double>(stages) / 2;
  const double longer = (static_cast<double>(count) - fill) / (static_cast<double>(some) - fill);
  return {made.mean * longer, made.variance * longer};
}

/// Returns the expected largest load of a rank over the mean, in deviations of a micro-batch, when
/// sequences are dealt out by cost: the largest first, in rounds that give each rank one, the next
/// to the rank with the least load so far.
double UnevenMicroBatchWaitModel::dealt(const plan::Plan& plan, double skewness) const {
  const std::int64_t ranks = plan.parallel.data;
  const std::int64_t each = std::max<std::int64_t>(
      1, std::min(plan::micro_batches_per_pipeline(job_, plan) * plan.micro_batch, kDealt / ranks));
  std::mt19937_64 random(static_cast<std::uint64_t>(job_.documents->packing.seed));
  const double sequences = static_cast<double>(plan.micro_batch);
  const double skew_of_one = skewness * std::sqrt(sequences);
  constexpr int kSteps = 8;
  double largest = 0;
  for (int step = 0; step < kSteps; ++step) {
    std::vector<double> costs;
    for (std::int64_t i = 0; i < ranks * each; ++i) {
      costs.push_back(packing::skewed_quantile(normal(random), skew_of_one));
    }
    std::ranges::sort(costs, std::greater{});
    std::vector<double> loads(static_cast<std::size_t>(ranks), 0);
    double mean = 0;
    for (std::size_t i = 0; i < costs.size(); ++i) {
      const std::size_t rank = i % loads.size();
      if (rank == 0) std::ranges::sort(loads);
      loads[rank] += costs[i];
      mean += costs[i] / static_cast<double>(ranks);
    }
    largest += (std::ranges::max(loads) - mean) / kSteps;
  }
  return largest / std::sqrt(sequences);
}

const packing::MaximumDistribution& UnevenMicroBatchWaitModel::maximum_distribution(
    std::int64_t count, double skewness, double most) {
  const auto [entry, fresh] = largest_.try_emplace({count, skewness, most});
  if (fresh) entry->second = packing::maximum_distribution(count, skewness, most);
  return entry->second;
}

UnevenMicroBatchWaits UnevenMicroBatchWaitModel::expected_waits_of_plan(
    const plan::Plan& plan, const MicroBatchGrowthSeconds& seconds) {
  const packing::Packing& packing = job_.documents->packing;
  const packing::MicroBatchVariation spread =
      packing::micro_batch_spread(job_.documents->packs, packing, plan.micro_batch);
  const double deviation_s = seconds.pairs * spread.pairs + seconds.tokens * spread.tokens;
  if (deviation_s <= 0) return {};
  const auto count = static_cast<double>(plan::micro_batches_per_pipeline(job_, plan));
  const double chain = count + static_cast<double>(plan.parallel.pipeline) - 1;
  if (packing.kind == packing::PackingKind::kSorted) {
    // Micro-batches within a step are alike, but steps differ.
    const packing::MaximumDistribution& one = maximum_distribution(1, spread.skewness, spread.most);
    return {0, deviation_s * chain * one.low, deviation_s * chain * one.high};
  }
  const bool balanced = packing.balance == packing::SequenceToRankAssignment::kByCost;
  const std::int64_t together = balanced ? 1 : ranks_in_step(job_, plan);
  const packing::MaximumDistribution& meeting =
      maximum_distribution(together, spread.skewness, spread.most);
  const PipelineMakespanExcess rank = makespan(plan, spread.skewness);
  const double scale = std::sqrt(meeting.variance);
  const double skew_of_sum = spread.skewness / std::sqrt(count);
  const packing::MaximumDistribution& slowest = maximum_distribution(
      plan.parallel.data / together, skew_of_sum, spread.most * std::sqrt(count));
  const double rank_deviation = std::sqrt(rank.variance) * scale;
  const double apart = balanced ? dealt(plan, spread.skewness) : rank_deviation * slowest.mean;
  const double waits = chain * meeting.mean + rank.mean * scale + apart;
  return {.waits_s = deviation_s * waits,
          .low_s = deviation_s * rank_deviation * (slowest.low - slowest.mean),
          .high_s = deviation_s * rank_deviation * (slowest.high - slowest.mean)};
}

}  // namespace stepwright::simulate
