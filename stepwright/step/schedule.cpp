#include "stepwright/step/schedule.h"

#include "stepwright/step/schedules/generators.h"

namespace stepwright {

Turns pipeline_schedule(const Schedule& schedule, std::int64_t stages, std::int64_t position,
                        std::int64_t micro_batches) {
  const PipelineSize size{stages, position, micro_batches, schedule.chunks};
  switch (schedule.kind) {
    case ScheduleKind::kGpipe: return gpipe(size);
    case ScheduleKind::kOneForwardOneBackward: return one_forward_one_backward(size);
    case ScheduleKind::kInterleaved: return interleaved(size);
    case ScheduleKind::kZeroBubbleH1: return zero_bubble_h1(size);
    case ScheduleKind::kZeroBubbleH2: return zero_bubble_h2(size);
    case ScheduleKind::kZeroBubbleV: return zero_bubble_v(size);
    case ScheduleKind::kVHalf: return v_half(size);
    case ScheduleKind::kVMin: return v_min(size);
    case ScheduleKind::kFolded: return folded(size);
    case ScheduleKind::kDualPipe: return dual_pipe(size);
    case ScheduleKind::kDualPipeV: return dual_pipe_v(size);
    case ScheduleKind::kPaired: return paired(size);
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
