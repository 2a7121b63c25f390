#include "stepwright/step/schedule.h"

#include <algorithm>

namespace stepwright {
namespace {

Turn one(Direction direction, std::int64_t chunk, std::int64_t micro_batch) {
  return {
      .part = {direction, static_cast<std::int32_t>(chunk), static_cast<std::int32_t>(micro_batch)},
      .beside = std::nullopt};
}

Turns gpipe(std::int64_t micro_batches) {
  Turns turns;
  for (const Direction direction : {Direction::kForward, Direction::kBackward}) {
    for (std::int64_t i = 0; i < micro_batches; ++i) turns.push_back(one(direction, 0, i));
  }
  return turns;
}

/// The k-th forward or backward that a rank of an interleaved pipeline does.
Turn interleaved_turn(Direction direction, std::int64_t k, std::int64_t stages,
                      std::int64_t chunks) {
  const std::int64_t round = k / (stages * chunks);
  const std::int64_t within = k % (stages * chunks);
  std::int64_t chunk = within / stages;
  if (direction == Direction::kBackward) chunk = chunks - 1 - chunk;
  return one(direction, chunk, round * stages + within % stages);
}

/// `warm_up` forwards, then one forward and one backward in turn, then the remaining backwards.
template <class Work>
Turns one_forward_one_backward(std::int64_t total, std::int64_t warm_up, Work work) {
  Turns turns;
  turns.reserve(static_cast<std::size_t>(2 * total));
  const std::int64_t first = std::min(warm_up, total);
  for (std::int64_t k = 0; k < first; ++k) turns.push_back(work(Direction::kForward, k));
  for (std::int64_t k = first; k < total; ++k) {
    turns.push_back(work(Direction::kForward, k));
    turns.push_back(work(Direction::kBackward, k - first));
  }
  for (std::int64_t k = total - first; k < total; ++k) {
    turns.push_back(work(Direction::kBackward, k));
  }
  return turns;
}

/// ZB-H1 (2401.10241): position r starts with p-r forwards; then data gradient j, weight gradient
/// j-r, the next forward. It holds activations of p-r micro-batches, as 1f1b does, and the operands
/// of r weight gradients, which fill what 1f1b waits for.
Turns zero_bubble_h1(std::int64_t stages, std::int64_t position, std::int64_t micro_batches) {
  Turns turns;
  turns.reserve(static_cast<std::size_t>(3 * micro_batches));
  std::int64_t forwards = std::min(stages - position, micro_batches);
  for (std::int64_t i = 0; i < forwards; ++i) turns.push_back(one(Direction::kForward, 0, i));
  for (std::int64_t j = 0; j < micro_batches; ++j) {
    turns.push_back(one(Direction::kDataGradient, 0, j));
    if (j >= position) turns.push_back(one(Direction::kWeightGradient, 0, j - position));
    if (forwards < micro_batches) turns.push_back(one(Direction::kForward, 0, forwards++));
  }
  for (std::int64_t j = std::max<std::int64_t>(0, micro_batches - position); j < micro_batches;
       ++j) {
    turns.push_back(one(Direction::kWeightGradient, 0, j));
  }
  return turns;
}

}  // namespace

Turns pipeline_schedule(const Schedule& schedule, std::int64_t stages, std::int64_t position,
                        std::int64_t micro_batches) {
  const std::int64_t behind = stages - 1 - position;
  switch (schedule.kind) {
    case ScheduleKind::kGpipe: return gpipe(micro_batches);
    case ScheduleKind::kOneForwardOneBackward:
      return one_forward_one_backward(
          micro_batches, behind, [](Direction direction, auto k) { return one(direction, 0, k); });
    case ScheduleKind::kInterleaved:
      return one_forward_one_backward(
          micro_batches * schedule.chunks, 2 * behind + (schedule.chunks - 1) * stages,
          [&](Direction direction, auto k) {
            return interleaved_turn(direction, k, stages, schedule.chunks);
          });
    case ScheduleKind::kZeroBubbleH1: return zero_bubble_h1(stages, position, micro_batches);
  }
  return {};
}

std::vector<Turns> all_turns(const Schedule& schedule, std::int64_t stages,
                             std::int64_t micro_batches) {
  std::vector<Turns> turns;
  for (std::int64_t position = 0; position < stages; ++position) {
    turns.push_back(pipeline_schedule(schedule, stages, position, micro_batches));
  }
  return turns;
}

}  // namespace stepwright
