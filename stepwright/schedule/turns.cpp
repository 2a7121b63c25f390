#include "stepwright/schedule/turns.h"

#include <algorithm>

namespace stepwright::schedule {

PipelineWorkPart make_schedule_work_item(Direction direction, std::int64_t chunk,
                                         std::int64_t micro_batch) {
  return {direction, static_cast<std::int32_t>(chunk), static_cast<std::int32_t>(micro_batch)};
}

PipelineScheduleTurn make_single_part_turn(Direction direction, std::int64_t chunk,
                                           std::int64_t micro_batch) {
  return {.part = make_schedule_work_item(direction, chunk, micro_batch), .beside = std::nullopt};
}

std::vector<PipelineWorkPart> work_items_in_issue_order(
    std::span<const PipelineScheduleTurn> turns) {
  std::vector<PipelineWorkPart> parts;
  parts.reserve(turns.size());
  for (const PipelineScheduleTurn& turn : turns) {
    const bool forward_first = turn.beside && turn.part.direction == Direction::kForward;
    if (forward_first) parts.push_back(*turn.beside);
    parts.push_back(turn.part);
    if (turn.beside && !forward_first) parts.push_back(*turn.beside);
  }
  return parts;
}

Turns serialize_overlapped_turns(Turns turns) {
  const auto paired = [](const PipelineScheduleTurn& turn) { return turn.beside.has_value(); };
  if (std::ranges::none_of(turns, paired)) return turns;
  Turns single;
  single.reserve(turns.size());
  for (const PipelineWorkPart& part : work_items_in_issue_order(turns))
    single.push_back({.part = part, .beside = std::nullopt});
  return single;
}

}  // namespace stepwright::schedule
