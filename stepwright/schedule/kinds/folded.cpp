#include <algorithm>
#include <tuple>
#include <vector>

#include "stepwright/schedule/kinds.h"

namespace stepwright::schedule {
namespace {

/// Adds half of a slot: the forward of micro-batch `slot` through one chunk, overlapped with the
/// backward, through the other chunk, of the micro-batch `stages` earlier.
void add_trip(Turns& turns, const PipelinePositionSizes& size, std::int64_t slot,
              std::int64_t chunk) {
  const bool forward = slot < size.micro_batches;
  const bool backward = slot >= size.stages;
  const PipelineWorkPart back =
      make_schedule_work_item(Direction::kBackward, 1 - chunk, slot - size.stages);
  if (forward) turns.push_back(make_single_part_turn(Direction::kForward, chunk, slot));
  if (forward && backward) turns.back().beside = back;
  if (!forward && backward) turns.push_back({.part = back, .beside = std::nullopt});
}

/// With fewer micro-batches than positions, forwards and backwards never overlap: all forwards,
/// then all backwards, each in the order in which they arrive on the way down and up.
Turns without_meeting(const PipelinePositionSizes& size) {
  // time, way (down or up), micro-batch
  std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t>> arrivals;
  for (std::int64_t i = 0; i < size.micro_batches; ++i) {
    arrivals.emplace_back(size.position + i, 0, i);
    arrivals.emplace_back(2 * size.stages - 1 - size.position + i, 1, i);
  }
  std::ranges::sort(arrivals);
  Turns turns;
  for (const auto& [time, way, i] : arrivals)
    turns.push_back(make_single_part_turn(Direction::kForward, way, i));
  for (const auto& [time, way, i] : arrivals) {
    turns.push_back(make_single_part_turn(Direction::kBackward, 1 - way, i));
  }
  return turns;
}

/// DHelix (2411.15871): in slot i, the forward of micro-batch i goes down through the first half of
/// the model, overlapped with the backward of i-p through the second half, and then up with the
/// other halves. With fewer micro-batches than positions: all forwards, then all backwards.
Turns folded_turns(const PipelinePositionSizes& size) {
  if (size.micro_batches < size.stages) return without_meeting(size);
  const std::int64_t slots = size.micro_batches + size.stages;
  const std::int64_t first = size.pipeline_positions_after_this();
  Turns turns;
  for (std::int64_t slot = 0; slot < first; ++slot) add_trip(turns, size, slot, 0);
  for (std::int64_t slot = 0; slot < slots - first; ++slot) {
    add_trip(turns, size, first + slot, 0);
    add_trip(turns, size, slot, 1);
  }
  for (std::int64_t slot = slots - first; slot < slots; ++slot) add_trip(turns, size, slot, 1);
  return turns;
}

std::optional<double> folded_uniform_s(const UniformPipeline& pipeline) {
  const auto m = static_cast<double>(pipeline.micro_batches);
  const auto p = static_cast<double>(pipeline.stages);
  const double longer = std::max(pipeline.forward_s, pipeline.backward_s);
  const double c = pipeline.forward_backward_pair_s();
  if (c < longer || m < p) return std::nullopt;
  return p * pipeline.both_s() + (m > p ? (m - 1) * c : (p - 1) * longer);
}

}  // namespace

const PipelineScheduleDefinition kinds::kFolded = {
    .text = "a rank holds chunks from both ends of the model, a forward beside a backward (DHelix)",
    .traits = {.placement = ModelChunkPlacementKind::kV,
               .least_chunks = 2,
               .most_chunks = 2,
               .pairs = true},
    .turns = folded_turns,
    .uniform_s = folded_uniform_s};

}  // namespace stepwright::schedule
