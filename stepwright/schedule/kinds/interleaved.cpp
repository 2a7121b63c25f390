#include "stepwright/schedule/kinds/alternating.h"

namespace stepwright::schedule {
namespace {

/// Interleaved 1F1B, with several model chunks on each position (2104.04473).
Turns interleaved_turns(const PipelinePositionSizes& size) {
  return one_forward_one_backward(size, interleaved_warm_up_forwards(size), false);
}

/// Seconds of interleaved 1F1B. A micro-batch is at least as slow as the slowest stage, and at most
/// as slow as in lock-step, where every chunk takes the time of the slowest stage for it. Stages of
/// unequal chunks compensate most of the difference; half of it is a safe estimate (a test
/// simulates turns of random splits: 3 % too much on average).
double interleaved_s(std::int64_t micro_batches, const PipelinePositionSeconds& seconds) {
  double slowest = 0;
  for (std::size_t i = 0; i < seconds.forward.size(); ++i) {
    slowest = std::max(slowest, seconds.forward[i] + seconds.backward[i]);
  }
  double lock_step = 0;
  for (const double chunk_s : seconds.slowest_chunk) lock_step += chunk_s;
  const double pace_s = std::max(slowest, (slowest + lock_step) / 2);
  const auto chunks = static_cast<double>(seconds.slowest_chunk.size());
  return static_cast<double>(micro_batches) * pace_s +
         (seconds.micro_batch_round_trip_s() - slowest) / chunks + seconds.round_trip_hops_s();
}

/// Waiting micro-batches of a chunk among the first 2 (p-1-i) + (v-1) n + 1 forwards, which go
/// through n micro-batches of a chunk at a time.
std::int64_t interleaved_waiting(const PipelinePositionSizes& at, std::int64_t chunk) {
  const std::int64_t group = at.micro_batch_group_size();
  const std::int64_t all =
      std::min(at.micro_batches * at.chunks, interleaved_warm_up_forwards(at) + 1);
  const std::int64_t before = all / (group * at.chunks) * group;
  const std::int64_t held = std::min(group, at.micro_batches - before);
  const std::int64_t rest = all - before * at.chunks;
  return before + std::clamp<std::int64_t>(rest - chunk * held, 0, held);
}

}  // namespace

const PipelineScheduleDefinition kinds::kInterleaved = {
    .text = "1f1b with several model chunks per rank: a smaller bubble, more messages",
    .traits = {.least_chunks = 2, .most_chunks = kUnlimitedChunks, .alone = false, .groups = true},
    .turns = interleaved_turns,
    .form = {.seconds = interleaved_s, .waiting = interleaved_waiting}};

}  // namespace stepwright::schedule
