#include "stepwright/whole_run/forward_time.h"

#include <vector>

#include "stepwright/cost/cost_model.h"

namespace stepwright {
namespace {

bool is_forward(const Stage& stage, const Slot& slot) {
  const Sequence& sequence = stage.sequences[static_cast<std::size_t>(slot.sequence)];
  return sequence.direction == Direction::kForward && slot.beside < 0;
}

}  // namespace

double forward_time_s(const Prediction& prediction) {
  auto [job, plan] = prediction.planned;
  plan.schedule.strands = 1;
  StepProgram program =
      plan == prediction.planned.plan ? prediction.program : build_program(job, plan);
  for (Stage& stage : program.stages) {
    std::erase_if(stage.schedule, [&](const Slot& slot) { return !is_forward(stage, slot); });
  }
  const auto layouts = group_layouts(job.cluster, Grid(plan));
  return simulate(program, CostModel(job), layouts, plan).step_time_s;
}

}  // namespace stepwright
