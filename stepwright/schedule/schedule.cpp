#include "stepwright/schedule/schedule.h"

#include "stepwright/schedule/groups.h"
#include "stepwright/schedule/kinds.h"

namespace stepwright::schedule {

std::vector<PipelineSchedule> schedules_of_kind(PipelineScheduleKind kind,
                                                const std::vector<std::int64_t>& chunks,
                                                const std::vector<std::int64_t>& strands) {
  std::vector<PipelineSchedule> schedules;
  for (const std::int64_t count : model_chunk_counts_to_try(kind, chunks)) {
    for (const std::int64_t beside : micro_batch_stream_counts_to_try(kind, strands)) {
      schedules.push_back({.kind = kind, .chunks = count, .strands = beside});
    }
  }
  return schedules;
}

ModelChunkPlacement model_chunk_placement(const PipelineSchedule& schedule,
                                          std::int64_t positions) {
  const PipelineScheduleTraits& traits = traits_of(schedule.kind);
  return {traits.found ? schedule.basis.placement : traits.placement, positions, schedule.chunks};
}

std::int64_t micro_batch_group_size_of_schedule(const PipelineSchedule& schedule,
                                                std::int64_t positions,
                                                std::int64_t micro_batches) {
  return schedule.group > 0 ? schedule.group : min_group_size(positions, micro_batches);
}

bool fits(const OrderSearchBasis& basis, const ModelChunkPlacement& placement) {
  return std::ssize(basis.chunks) == placement.model_chunk_count() &&
         std::ssize(basis.room_bytes) == placement.positions();
}

std::vector<Turns> schedule_turns_of_named_kind(const PipelineSchedule& schedule,
                                                std::int64_t positions,
                                                std::int64_t micro_batches) {
  const auto turns_at = definition_of(schedule.kind).turns;
  std::vector<Turns> turns;
  for (std::int64_t position = 0; position < positions; ++position) {
    turns.push_back(
        turns_at({positions, position, micro_batches, schedule.chunks, schedule.group}));
  }
  return turns;
}

}  // namespace stepwright::schedule
