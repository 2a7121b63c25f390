#include "stepwright/step/schedule.h"

#include "stepwright/step/schedules/found.h"
#include "stepwright/step/schedules/generators.h"

namespace stepwright {
namespace {

/// What is found where forwards, data and weight gradients of all positions take as long.
std::vector<Turns> uniform_turns(const Schedule& schedule, std::int64_t stages,
                                 std::int64_t micro_batches) {
  const PartSeconds part{.forward = 1, .backward = 2, .data = 1, .weight = 1};
  const std::vector<PartSeconds> position(static_cast<std::size_t>(schedule.chunks), part);
  return found_turns(evenly_held(placement_of(schedule, stages), micro_batches,
                                 {.parts = {static_cast<std::size_t>(stages), position}},
                                 static_cast<double>(stages)));
}

}  // namespace

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
    case ScheduleKind::kStp: return stp(size);
    case ScheduleKind::kAuto:
      return uniform_turns(schedule, stages, micro_batches)[static_cast<std::size_t>(position)];
  }
  return {};
}

std::vector<Turns> all_turns(const Schedule& schedule, std::int64_t stages,
                             std::int64_t micro_batches) {
  if (traits_of(schedule.kind).found) return uniform_turns(schedule, stages, micro_batches);
  std::vector<Turns> turns;
  for (std::int64_t position = 0; position < stages; ++position) {
    turns.push_back(pipeline_schedule(schedule, stages, position, micro_batches));
  }
  return turns;
}

}  // namespace stepwright
