#include "stepwright/step/forwards.h"

namespace stepwright {
namespace {

Direction direction_of(const Stage& stage, const Slot& slot) {
  return stage.sequences[static_cast<std::size_t>(slot.sequence)].direction;
}

}  // namespace

StepProgram forwards_of(const Job& job, Plan plan, MicroBatchSize size) {
  plan.schedule.strands = 1;
  StepProgram program = build_program(job, plan, size);
  for (Template& piece : program.templates) piece.saved.clear();
  for (Stage& stage : program.stages) {
    std::erase_if(stage.schedule, [&](const Slot& slot) {
      return direction_of(stage, slot) != Direction::kForward;
    });
    stage.states.gradients = stage.states.optimizer = 0;
    stage.states.moved = 0;
    stage.states.host = stage.states.fetched;
    stage.states.others = {};
    stage.states.frozen = stage.states.parameters;
  }
  return program;
}

}  // namespace stepwright
