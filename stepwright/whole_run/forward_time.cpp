#include "stepwright/whole_run/forward_time.h"

#include "stepwright/cost/cost_model.h"
#include "stepwright/step/forwards.h"

namespace stepwright::whole_run {

double evaluation_batch_time_s(const simulate::PlanPrediction& prediction) {
  auto [job, plan] = prediction.planned;
  plan.schedule.strands = 1;
  const step::RepresentativeMicroBatch size = job.documents
                                                  ? step::RepresentativeMicroBatch::kMean
                                                  : step::RepresentativeMicroBatch::kLargest;
  const step::StepProgram program = step::forward_only_program(job, plan, size);
  return simulate::simulate_step_program(
             program, cost::CostModel(job),
             cost::rank_group_network_layouts(job.cluster, plan::RankGrid(plan)), plan)
      .step_time_s;
}

}  // namespace stepwright::whole_run
