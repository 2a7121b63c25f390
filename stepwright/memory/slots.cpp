#include "stepwright/memory/slots.h"

#include <vector>

#include "stepwright/memory/sequences.h"

namespace stepwright::memory {

void visit_slot_tensor_bytes(const step::StepProgram& program,
                             const step::PipelineStageProgram& stage,
                             std::span<const OperatorTemplateMemory> footprints,
                             const std::function<void(const step::PipelineScheduleSlot&,
                                                      const ScheduleSlotTensorBytes&)>& take,
                             MemoryPlace place) {
  std::vector<TemplateSequenceMemory> sequences;
  sequences.reserve(stage.sequences.size());
  for (const step::TemplateSequence& sequence : stage.sequences) {
    sequences.push_back(template_sequence_footprint(program, sequence, footprints, {}, place));
  }
  ScheduleSlotTensorBytes tensors;
  for (const step::PipelineScheduleSlot& slot : stage.schedule) {
    const TemplateSequenceMemory& own = sequences[static_cast<std::size_t>(slot.sequence)];
    for (int i = 0; i < step::kTensorKinds; ++i) {
      tensors.during[i] = tensors.after[i] + own.at_peak[i];
      tensors.after[i] += own.left[i];
    }
    take(slot, tensors);
  }
}

}  // namespace stepwright::memory
