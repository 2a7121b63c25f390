#include "stepwright/memory/slots.h"

#include <vector>

#include "stepwright/memory/sequences.h"

namespace stepwright::memory {

void walk_slot_tensor_bytes(
    const step::StepProgram& program, const step::Stage& stage,
    std::span<const TemplateMemoryFootprint> footprints,
    const std::function<void(const step::ScheduleSlot&, const SlotTensorBytes&)>& take,
    MemoryPlace place) {
  std::vector<SequenceFootprint> sequences;
  sequences.reserve(stage.sequences.size());
  for (const step::Sequence& sequence : stage.sequences) {
    sequences.push_back(sequence_footprint(program, sequence, footprints, {}, place));
  }
  SlotTensorBytes tensors;
  for (const step::ScheduleSlot& slot : stage.schedule) {
    const SequenceFootprint& own = sequences[static_cast<std::size_t>(slot.sequence)];
    for (int i = 0; i < step::kTensorKinds; ++i) {
      tensors.during[i] = tensors.after[i] + own.at_peak[i];
      tensors.after[i] += own.left[i];
    }
    take(slot, tensors);
  }
}

}  // namespace stepwright::memory
