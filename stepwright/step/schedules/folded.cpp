#include <algorithm>

#include "stepwright/step/schedules/generators.h"

namespace stepwright {
namespace {

/// Half of a slot: the forward of micro-batch `slot` through a chunk, beside the backward of the
/// one `lag` before it through the other.
void add_trip(Turns& turns, const PipelineSize& size, std::int64_t slot, std::int64_t chunk) {
  const std::int64_t lag = std::min(size.stages, size.micro_batches);
  const bool forward = slot < size.micro_batches;
  const bool backward = slot >= lag;
  const Part back = part_of(Direction::kBackward, 1 - chunk, slot - lag);
  if (forward) turns.push_back(turn_of(Direction::kForward, chunk, slot));
  if (forward && backward) turns.back().beside = back;
  if (!forward && backward) turns.push_back({.part = back, .beside = std::nullopt});
}

}  // namespace

Turns folded(const PipelineSize& size) {
  const std::int64_t slots = size.micro_batches + std::min(size.stages, size.micro_batches);
  const std::int64_t first = std::clamp<std::int64_t>(
      std::min(size.stages, size.micro_batches) - size.position - 1, 0, slots);
  Turns turns;
  for (std::int64_t slot = 0; slot < first; ++slot) add_trip(turns, size, slot, 0);
  for (std::int64_t slot = 0; slot < slots - first; ++slot) {
    add_trip(turns, size, first + slot, 0);
    add_trip(turns, size, slot, 1);
  }
  for (std::int64_t slot = slots - first; slot < slots; ++slot) add_trip(turns, size, slot, 1);
  return turns;
}

}  // namespace stepwright
