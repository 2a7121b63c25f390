#include "stepwright/memory/allocated.h"

#include <algorithm>
#include <cmath>

#include "stepwright/memory/held.h"
#include "stepwright/memory/sequences.h"
#include "stepwright/memory/slots.h"

namespace stepwright {
namespace {

/// The chunks of a stage of which no micro-batch is between its forward and the end of its
/// backward: what their modules still hold is nothing that the program keeps.
class IdleChunks {
 public:
  explicit IdleChunks(const Stage& stage) : stage_(stage), in_flight_(stage.chunks.size()) {}

  /// How many there are during a slot.
  std::int64_t during(const Slot& slot) {
    const Sequence& sequence = stage_.sequences[static_cast<std::size_t>(slot.sequence)];
    if (sequence.direction == Direction::kForward) ++of(sequence.chunk);
    const auto idle = std::ranges::count(in_flight_, 0);
    if (sequence.direction == Direction::kBackward ||
        sequence.direction == Direction::kWeightGradient) {
      --of(sequence.chunk);
    }
    if (sequence.beside >= 0) --of(sequence.beside);
    return idle;
  }

 private:
  std::int64_t& of(std::int32_t chunk) { return in_flight_[static_cast<std::size_t>(chunk)]; }

  const Stage& stage_;
  std::vector<std::int64_t> in_flight_;
};

AllocatedMemory allocated_of(const Job& job, const StepProgram& program, const Stage& stage,
                             std::span<const Footprint> footprints) {
  const HeldBytes held = held_bytes(job, program, stage);
  const double states = static_cast<double>(stage.states.parameters) +
                        static_cast<double>(stage.states.gradients) +
                        static_cast<double>(stage.states.optimizer);
  const double kept_input = 2 * held.stage_input;  // and its gradient
  const double after_step = states + held.always + held.between_steps +
                            kept_input * static_cast<double>(stage.chunks.size());
  double peak = after_step;
  IdleChunks idle(stage);
  walk_slots(program, stage, footprints, [&](const Slot& slot, const SlotTensors& tensors) {
    peak = std::max(peak, states + held.always + held.in_passes + total_bytes(tensors.during) +
                              kept_input * static_cast<double>(idle.during(slot)));
  });
  return {.after_step_bytes = std::ceil(after_step), .peak_bytes = std::ceil(peak)};
}

}  // namespace

std::vector<AllocatedMemory> allocated_memory(const Job& job, const StepProgram& program) {
  const std::vector<Footprint> footprints = footprints_of(program);
  std::vector<AllocatedMemory> stages;
  stages.reserve(program.stages.size());
  for (const Stage& stage : program.stages) {
    stages.push_back(allocated_of(job, program, stage, footprints));
  }
  return stages;
}

}  // namespace stepwright
