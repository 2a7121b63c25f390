#include "stepwright/memory/allocated.h"

#include <algorithm>
#include <cmath>

#include "stepwright/memory/gradient_walk.h"
#include "stepwright/memory/held.h"
#include "stepwright/memory/sequences.h"
#include "stepwright/memory/slot_changes.h"
#include "stepwright/memory/slots.h"
#include "stepwright/plan/grid.h"

namespace stepwright::memory {
namespace {

double states_without_gradients(const step::Stage& stage) {
  const step::RankModelStateBytes& states = stage.states;
  return static_cast<double>(states.parameters + states.optimizer + states.others.bytes());
}

/// Bytes of states between two steps, after gathered parameters have been freed and gradients
/// reduced: only the shards.
double resting_states(const step::StepProgram& program, const step::Stage& stage) {
  const step::RankModelStateBytes& states = stage.states;
  const auto ranks = [&](plan::GroupKind kind) {
    return static_cast<double>(program.group_sizes[static_cast<std::size_t>(kind)]);
  };
  const double inner = ranks(plan::GroupKind::kShardInner);
  const double shards = inner > 1 ? inner : ranks(plan::GroupKind::kDataContext);
  const auto elements = static_cast<double>(stage.dense_parameters);
  const double wide = elements * static_cast<double>(size_bytes(DType::kFp32, 1));
  auto parameters = static_cast<double>(states.parameters);
  auto gradients = static_cast<double>(states.gradients);
  if (shards > 1) {
    if (states.for_step > 0) {
      parameters -= static_cast<double>(states.for_step);
    } else if (2 * parameters >= wide) {
      parameters = 0;  // only fp32 shards remain, which the optimizer counts
    }
    if (gradients >= wide) gradients = wide / shards;
  }
  return parameters + gradients + static_cast<double>(states.optimizer + states.others.bytes());
}

double fresh_peak(const step::StepProgram& program, const step::Stage& stage,
                  const FrameworkHeldBytes& held,
                  std::span<const TemplateMemoryFootprint> footprints) {
  const double always = states_without_gradients(stage) -
                        static_cast<double>(stage.states.for_step) + held.always + held.in_passes;
  GradientMemoryWalk walk(program, stage, footprints, held.whole_first_stage);
  double peak = 0;
  for (const step::ScheduleSlot& slot : stage.schedule) {
    peak = std::max(peak, always + walk.during(slot).bytes());
  }
  return peak;
}

PyTorchAllocatedMemory allocated_of(const plan::Job& job, const step::StepProgram& program,
                                    const step::Stage& stage,
                                    std::span<const TemplateMemoryFootprint> footprints) {
  const FrameworkHeldBytes held = framework_held_bytes(job, program, stage);
  const double states =
      states_without_gradients(stage) + static_cast<double>(stage.states.gradients);
  const double kept_input = 2 * held.stage_input;  // twice: the input and its gradient
  const double resting = held.fresh_gradients ? resting_states(program, stage) : states;
  const double after_step = resting + held.always + held.between_steps +
                            kept_input * static_cast<double>(stage.chunks.size());
  if (held.fresh_gradients) {
    const double peak = std::max(after_step, fresh_peak(program, stage, held, footprints));
    return {.after_step_bytes = std::ceil(after_step), .peak_bytes = std::ceil(peak)};
  }
  double peak = after_step;
  IdleChunkCounter idle(stage);
  walk_slot_tensor_bytes(
      program, stage, footprints,
      [&](const step::ScheduleSlot& slot, const SlotTensorBytes& tensors) {
        peak = std::max(peak, states + held.always + held.in_passes + total_bytes(tensors.during) +
                                  kept_input * static_cast<double>(idle.during(slot)));
      });
  return {.after_step_bytes = std::ceil(after_step), .peak_bytes = std::ceil(peak)};
}

}  // namespace

std::vector<PyTorchAllocatedMemory> pytorch_allocated_memory(const plan::Job& job,
                                                             const step::StepProgram& program) {
  const std::vector<TemplateMemoryFootprint> footprints = template_memory_footprints(program);
  std::vector<PyTorchAllocatedMemory> stages;
  stages.reserve(program.stages.size());
  for (const step::Stage& stage : program.stages) {
    stages.push_back(allocated_of(job, program, stage, footprints));
  }
  return stages;
}

}  // namespace stepwright::memory
