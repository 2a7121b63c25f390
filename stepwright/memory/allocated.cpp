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

double states_without_gradients(const step::PipelineStageProgram& stage) {
  const step::RankModelStateBytes& states = stage.states;
  return static_cast<double>(states.parameters + states.optimizer + states.others.bytes());
}

/// Bytes of states between two steps, after gathered parameters have been freed and gradients
/// reduced: only the shards.
double resting_states(const step::StepProgram& program, const step::PipelineStageProgram& stage) {
  const step::RankModelStateBytes& states = stage.states;
  const auto ranks = [&](plan::CommunicatorKind kind) {
    return static_cast<double>(program.group_sizes[static_cast<std::size_t>(kind)]);
  };
  const double inner = ranks(plan::CommunicatorKind::kShardInner);
  const double shards = inner > 1 ? inner : ranks(plan::CommunicatorKind::kDataContext);
  const auto elements = static_cast<double>(stage.dense_parameters);
  const double wide = elements * static_cast<double>(bytes_of_elements(DType::kFp32, 1));
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

double fresh_peak(const step::StepProgram& program, const step::PipelineStageProgram& stage,
                  const FrameworkHeldBytes& held,
                  std::span<const OperatorTemplateMemory> footprints) {
  const double always = states_without_gradients(stage) -
                        static_cast<double>(stage.states.for_step) + held.always + held.in_passes;
  GradientMemoryWalk walk(program, stage, footprints, held.whole_first_stage);
  double peak = 0;
  for (const step::PipelineScheduleSlot& slot : stage.schedule) {
    peak = std::max(peak, always + walk.memory_at_slot_peak(slot).bytes());
  }
  return peak;
}

PyTorchAllocatedMemory allocated_of(const plan::Job& job, const step::StepProgram& program,
                                    const step::PipelineStageProgram& stage,
                                    std::span<const OperatorTemplateMemory> footprints) {
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
  IdleModelChunkCounter idle(stage);
  visit_slot_tensor_bytes(
      program, stage, footprints,
      [&](const step::PipelineScheduleSlot& slot, const ScheduleSlotTensorBytes& tensors) {
        peak = std::max(peak,
                        states + held.always + held.in_passes + total_bytes(tensors.during) +
                            kept_input * static_cast<double>(idle.idle_chunks_during_slot(slot)));
      });
  return {.after_step_bytes = std::ceil(after_step), .peak_bytes = std::ceil(peak)};
}

}  // namespace

std::vector<PyTorchAllocatedMemory> pytorch_allocated_memory(const plan::Job& job,
                                                             const step::StepProgram& program) {
  const std::vector<OperatorTemplateMemory> footprints = template_memory_footprints(program);
  std::vector<PyTorchAllocatedMemory> stages;
  stages.reserve(program.stages.size());
  for (const step::PipelineStageProgram& stage : program.stages) {
    stages.push_back(allocated_of(job, program, stage, footprints));
  }
  return stages;
}

}  // namespace stepwright::memory
