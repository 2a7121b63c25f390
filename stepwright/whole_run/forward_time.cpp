#include "stepwright/whole_run/forward_time.h"

#include "stepwright/cost/cost_model.h"
#include "stepwright/step/forwards.h"

namespace stepwright::whole_run {

double evaluation_batch_time_s(const simulate::Prediction& prediction) {
  auto [job, plan] = prediction.planned;
  plan.schedule.strands = 1;
  const step::RepresentativeMicroBatch size = job.documents
                                                  ? step::RepresentativeMicroBatch::kMean
                                                  : step::RepresentativeMicroBatch::kLargest;
  const step::StepProgram program = step::forward_only_program(job, plan, size);
  return simulate::simulate(program, cost::CostModel(job),
                            cost::group_layouts(job.cluster, plan::Grid(plan)), plan)
      .step_time_s;
}

}  // namespace stepwright::whole_run
