#include <algorithm>

#include "stepwright/step/schedules/generators.h"

namespace stepwright {
namespace {

/// The k-th forward or backward that a position of an interleaved pipeline does.
Part interleaved_part(const PipelineSize& size, Direction direction, std::int64_t k) {
  const std::int64_t round = k / (size.stages * size.chunks);
  const std::int64_t within = k % (size.stages * size.chunks);
  std::int64_t chunk = within / size.stages;
  if (direction == Direction::kBackward) chunk = size.chunks - 1 - chunk;
  return part_of(direction, chunk, round * size.stages + within % size.stages);
}

/// `warm_up` forwards, then one forward and one backward in turn, or side by side, then the
/// remaining backwards.
Turns one_and_one(const PipelineSize& size, std::int64_t warm_up, bool side_by_side) {
  const std::int64_t total = size.micro_batches * size.chunks;
  const std::int64_t first = std::min(warm_up, total);
  const auto part = [&](Direction direction, std::int64_t k) {
    return interleaved_part(size, direction, k);
  };
  Turns turns;
  turns.reserve(static_cast<std::size_t>(2 * total));
  for (std::int64_t k = 0; k < first; ++k) turns.push_back({part(Direction::kForward, k), {}});
  for (std::int64_t k = first; k < total; ++k) {
    const Part backward = part(Direction::kBackward, k - first);
    Turn& forward = turns.emplace_back(Turn{part(Direction::kForward, k), {}});
    if (side_by_side) {
      forward.beside = backward;
    } else {
      turns.push_back({backward, {}});
    }
  }
  for (std::int64_t k = total - first; k < total; ++k) {
    turns.push_back({part(Direction::kBackward, k), {}});
  }
  return turns;
}

/// Forwards before the first backward of an interleaved position, less the one that the steady
/// state begins with.
std::int64_t interleaved_warm_up(const PipelineSize& size) {
  return 2 * size.behind() + (size.chunks - 1) * size.stages;
}

}  // namespace

Part part_of(Direction direction, std::int64_t chunk, std::int64_t micro_batch) {
  return {direction, static_cast<std::int32_t>(chunk), static_cast<std::int32_t>(micro_batch)};
}

Turn turn_of(Direction direction, std::int64_t chunk, std::int64_t micro_batch) {
  return {.part = part_of(direction, chunk, micro_batch), .beside = std::nullopt};
}

Turns gpipe(const PipelineSize& size) {
  Turns turns;
  for (const Direction direction : {Direction::kForward, Direction::kBackward}) {
    for (std::int64_t i = 0; i < size.micro_batches; ++i) {
      turns.push_back(turn_of(direction, 0, i));
    }
  }
  return turns;
}

Turns one_forward_one_backward(const PipelineSize& size) {
  PipelineSize alone = size;
  alone.chunks = 1;
  return one_and_one(alone, size.behind(), false);
}

Turns interleaved(const PipelineSize& size) {
  return one_and_one(size, interleaved_warm_up(size), false);
}

Turns paired(const PipelineSize& size) {
  return one_and_one(size, interleaved_warm_up(size) + 1, true);
}

}  // namespace stepwright
