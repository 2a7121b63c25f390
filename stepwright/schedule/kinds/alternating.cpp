#include "stepwright/schedule/kinds/alternating.h"

#include <algorithm>

namespace stepwright {
namespace {

/// The k-th forward or backward that a position of an interleaved pipeline does.
Part interleaved_part(const PipelineSize& size, std::int64_t group, Direction direction,
                      std::int64_t k) {
  const std::int64_t before = k / (group * size.chunks) * group;
  const std::int64_t held = std::min(group, size.micro_batches - before);
  const std::int64_t within = k - before * size.chunks;
  std::int64_t chunk = within / held;
  if (direction == Direction::kBackward) chunk = size.chunks - 1 - chunk;
  return part_of(direction, chunk, before + within % held);
}

}  // namespace

Turns one_and_one(const PipelineSize& size, std::int64_t warm_up, bool side_by_side) {
  const std::int64_t total = size.micro_batches * size.chunks;
  const std::int64_t first = std::min(warm_up, total);
  const std::int64_t group = size.grouped();
  const auto part = [&](Direction direction, std::int64_t k) {
    return interleaved_part(size, group, direction, k);
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

}  // namespace stepwright
