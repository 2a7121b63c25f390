#include "stepwright/step/forwards.h"

#include <algorithm>

namespace stepwright::step {
namespace {

schedule::Direction direction_of(const PipelineStageProgram& stage,
                                 const PipelineScheduleSlot& slot) {
  return stage.sequences[static_cast<std::size_t>(slot.sequence)].direction;
}

bool is_forward(schedule::Direction direction) {
  switch (direction) {
    case schedule::Direction::kForward:
    case schedule::Direction::kEmbed:
    case schedule::Direction::kPredict:
    case schedule::Direction::kEmbeddingLookUp:
    case schedule::Direction::kTakeRows:
    case schedule::Direction::kHandRows:
    case schedule::Direction::kLogits: return true;
    default: return false;
  }
}

/// Removes the backward from a sequence of a forward and a backward.
void keep_forward(const StepProgram& program, TemplateSequence& sequence) {
  const auto goes_back = [&](const TemplateSequenceItem& item) {
    const auto& operators = program.templates[static_cast<std::size_t>(item.which)].operators;
    return std::ranges::any_of(operators,
                               [](const Operator& op) { return is_backward_phase(op.phase); });
  };
  const auto first = std::ranges::find_if(sequence.items, goes_back);
  sequence.items.erase(first, sequence.items.end());
}

}  // namespace

StepProgram forward_only_program(plan::Job job, plan::Plan plan, RepresentativeMicroBatch size) {
  job.method.updates = 0;
  plan.schedule.strands = 1;
  plan::Job alone = job;
  // Without a backward, a loss does not compute gradients.
  if (alone.kernels.loss_keeps == plan::LossSavedTensors::kGradients) {
    alone.kernels.loss_keeps = plan::LossSavedTensors::kRows;
  }
  StepProgram program = build_step_program(alone, plan, size);
  for (OperatorTemplate& piece : program.templates) piece.saved.clear();
  for (PipelineStageProgram& stage : program.stages) {
    std::erase_if(stage.schedule, [&](const PipelineScheduleSlot& slot) {
      return !is_forward(direction_of(stage, slot));
    });
    for (TemplateSequence& sequence : stage.sequences) {
      if (sequence.direction == schedule::Direction::kPredict) keep_forward(program, sequence);
    }
    stage.states.gradients = stage.states.optimizer = 0;
    stage.states.moved = 0;
    stage.states.host = {.states = stage.states.fetched};
    stage.states.others = {};
    stage.states.frozen = stage.states.parameters;
  }
  return program;
}

}  // namespace stepwright::step
