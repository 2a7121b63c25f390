#include "stepwright/simulate/price/schedule_forms.h"

#include <algorithm>
#include <numeric>

namespace stepwright {
namespace {

double sum(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// Slowest stretch of neighbouring positions in the steady state of 1F1B: a round trip over `n` of
/// them lets `n` micro-batches pass and pays `2 (n - 1)` hops. Looks at single positions and at
/// stretches from either end.
double steady_s(std::int64_t micro_batches, const PipelineSeconds& seconds) {
  const auto rounds = static_cast<double>(micro_batches - 1);
  double slowest = 0;
  const std::size_t p = seconds.forward.size();
  const auto consider = [&](double work, std::size_t count) {
    const auto n = static_cast<std::int64_t>(count);
    const std::int64_t round_trips = (micro_batches - 1 + n - 1) / n;
    const auto trips = static_cast<double>(round_trips);
    slowest = std::max(slowest, rounds * work / static_cast<double>(n) +
                                    2 * seconds.hop_s * std::max(0.0, rounds - trips));
  };
  double from_first = 0;
  double from_last = 0;
  for (std::size_t i = 0; i < p; ++i) {
    const double here = seconds.forward[i] + seconds.backward[i];
    from_first += here;
    from_last += seconds.forward[p - 1 - i] + seconds.backward[p - 1 - i];
    consider(here, 1);
    consider(from_first, i + 1);
    consider(from_last, i + 1);
  }
  return slowest;
}

/// Of a micro-batch through interleaved stages. No faster than the slowest stage, no slower than in
/// lock-step, where every chunk takes what the slowest stage takes for it. Stages of unequal chunks
/// make up for most of the difference; half of it is a price on the safe side (a test plays turns
/// of random splits: 3 % too much in the mean).
double interleaved_pace_s(double slowest_stage, const PipelineSeconds& seconds) {
  return std::max(slowest_stage, (slowest_stage + sum(seconds.slowest_chunk)) / 2);
}

double interleaved_s(const Schedule& schedule, std::int64_t micro_batches, double all, double hops,
                     const PipelineSeconds& seconds) {
  double slowest = 0;
  for (std::size_t i = 0; i < seconds.forward.size(); ++i) {
    slowest = std::max(slowest, seconds.forward[i] + seconds.backward[i]);
  }
  const auto v = static_cast<double>(schedule.chunks);
  return static_cast<double>(micro_batches) * interleaved_pace_s(slowest, seconds) +
         (all - slowest) / v + hops;
}

}  // namespace

bool has_closed_form(ScheduleKind kind) {
  return kind == ScheduleKind::kGpipe || kind == ScheduleKind::kOneForwardOneBackward ||
         kind == ScheduleKind::kInterleaved;
}

double waiting_micro_batches(const Schedule& schedule, const PipelinePosition& at,
                             std::int64_t chunk) {
  const std::int64_t m = at.micro_batches;
  const std::int64_t p = at.stages;
  const std::int64_t behind = p - 1 - at.position;
  if (schedule.kind == ScheduleKind::kGpipe) return static_cast<double>(m);
  if (schedule.kind == ScheduleKind::kOneForwardOneBackward) {
    return static_cast<double>(std::min(m, behind + 1));
  }
  const std::int64_t v = schedule.chunks;
  const std::int64_t all = std::min(m * v, 2 * behind + (v - 1) * p + 1);
  const std::int64_t rounds = all / (p * v);
  const std::int64_t rest = std::clamp<std::int64_t>(all % (p * v) - chunk * p, 0, p);
  return static_cast<double>(rounds * p + rest);
}

double closed_pipeline_s(const Schedule& schedule, std::int64_t micro_batches,
                         const PipelineSeconds& seconds) {
  const auto rounds = static_cast<double>(micro_batches - 1);
  const double hops = 2 * seconds.hop_s * static_cast<double>(seconds.forward.size() - 1);
  const double all = sum(seconds.forward) + sum(seconds.backward);
  if (schedule.kind == ScheduleKind::kOneForwardOneBackward) {
    return all + hops + steady_s(micro_batches, seconds);
  }
  if (schedule.kind == ScheduleKind::kGpipe) {
    return all + hops +
           rounds * (std::ranges::max(seconds.forward) + std::ranges::max(seconds.backward));
  }
  return interleaved_s(schedule, micro_batches, all, hops, seconds);
}

}  // namespace stepwright
