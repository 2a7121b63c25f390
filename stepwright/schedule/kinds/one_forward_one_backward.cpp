#include "stepwright/schedule/kinds/alternating.h"

namespace stepwright::schedule {
namespace {

/// 1F1B: alternately one forward and one backward (2006.09503).
Turns alternating_turns(const PipelinePositionSizes& size) {
  PipelinePositionSizes alone = size;
  alone.chunks = 1;
  return one_forward_one_backward(alone, size.pipeline_positions_after_this(), false);
}

/// Seconds of the steady state, set by the slowest stretch of neighbouring positions: during a
/// round trip over `n` of them, `n` micro-batches pass, with `2 (n - 1)` hops. Considers single
/// positions and stretches from either end.
double steady_s(std::int64_t micro_batches, const PipelinePositionSeconds& seconds) {
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

double alternating_s(std::int64_t micro_batches, const PipelinePositionSeconds& seconds) {
  return seconds.micro_batch_round_trip_s() + seconds.round_trip_hops_s() +
         steady_s(micro_batches, seconds);
}

std::int64_t alternating_waiting(const PipelinePositionSizes& at, std::int64_t /*chunk*/) {
  return std::min(at.micro_batches, at.pipeline_positions_after_this() + 1);
}

}  // namespace

const PipelineScheduleDefinition kinds::kOneForwardOneBackward = {
    .text = "one forward, one backward in turn: few micro-batches in flight",
    .turns = alternating_turns,
    .form = {.seconds = alternating_s, .waiting = alternating_waiting}};

}  // namespace stepwright::schedule
