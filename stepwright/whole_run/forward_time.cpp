#include "stepwright/whole_run/forward_time.h"

#include "stepwright/cost/cost_model.h"
#include "stepwright/step/forwards.h"

namespace stepwright {

double forward_time_s(const Prediction& prediction) {
  auto [job, plan] = prediction.planned;
  plan.schedule.strands = 1;
  const MicroBatchSize size = job.documents ? MicroBatchSize::kMean : MicroBatchSize::kLargest;
  const StepProgram program = forwards_of(job, plan, size);
  return simulate(program, CostModel(job), group_layouts(job.cluster, Grid(plan)), plan)
      .step_time_s;
}

}  // namespace stepwright
