#include "stepwright/step/schedule.h"

#include <algorithm>

namespace stepwright {
namespace {

using Turns = std::vector<Turn>;

Turns gpipe(std::int64_t micro_batches) {
  Turns turns;
  for (const Direction direction : {Direction::kForward, Direction::kBackward}) {
    for (std::int64_t i = 0; i < micro_batches; ++i) {
      turns.push_back({direction, 0, static_cast<std::int32_t>(i)});
    }
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
  return {direction, static_cast<std::int32_t>(chunk),
          static_cast<std::int32_t>(round * stages + within % stages)};
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

}  // namespace

std::vector<Turn> pipeline_schedule(const Schedule& schedule, std::int64_t stages,
                                    std::int64_t position, std::int64_t micro_batches) {
  const std::int64_t behind = stages - 1 - position;
  switch (schedule.kind) {
    case ScheduleKind::kGpipe: return gpipe(micro_batches);
    case ScheduleKind::kOneForwardOneBackward:
      return one_forward_one_backward(micro_batches, behind, [](Direction direction, auto k) {
        return Turn{direction, 0, static_cast<std::int32_t>(k)};
      });
    case ScheduleKind::kInterleaved:
      return one_forward_one_backward(
          micro_batches * schedule.chunks, 2 * behind + (schedule.chunks - 1) * stages,
          [&](Direction direction, auto k) {
            return interleaved_turn(direction, k, stages, schedule.chunks);
          });
  }
  return {};
}

}  // namespace stepwright
