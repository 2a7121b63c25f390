#pragma once

#include <functional>
#include <span>

#include "stepwright/memory/lifetimes.h"
#include "stepwright/step/program.h"

namespace stepwright::memory {

/// Bytes of tensors allocated during and after one slot of a stage's schedule (the forward or
/// backward of one micro-batch).
struct ScheduleSlotTensorBytes {
  /// Bytes at the peak of one forward or backward of a micro-batch (a slot of the schedule).
  KindBytes during{};
  /// Bytes after the slot: tensors saved by forwards whose backward is still to come.
  KindBytes after{};
};

/// Calls `take` with each slot of a stage's schedule in order, and the bytes of tensors in the
/// memory `place` (device or host) during and after it. `footprints`: bytes of each of
/// `program.templates` there.
void visit_slot_tensor_bytes(const step::StepProgram& program,
                             const step::PipelineStageProgram& stage,
                             std::span<const OperatorTemplateMemory> footprints,
                             const std::function<void(const step::PipelineScheduleSlot&,
                                                      const ScheduleSlotTensorBytes&)>& take,
                             MemoryPlace place = MemoryPlace::kDevice);

}  // namespace stepwright::memory
