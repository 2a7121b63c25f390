#pragma once

#include "stepwright/cluster/catalog.h"
#include "stepwright/model/catalog.h"
#include "stepwright/plan/job.h"

namespace stepwright::step {

/// Returns a job on `nodes` DGX H100 nodes.
inline plan::Job job_of(std::string_view model, std::int64_t nodes, std::int64_t sequences,
                        std::int64_t length) {
  plan::Job job;
  job.model_name = std::string(model);
  job.model = *model::built_in_model(model);
  job.cluster = *cluster::built_in_cluster("dgx-h100", nodes);
  job.sequences = sequences;
  job.length = length;
  return job;
}

/// Returns a plan with these degrees; the other ranks are data parallel.
inline plan::Plan plan_of(const plan::Job& job, std::int64_t tensor, std::int64_t pipeline,
                          std::int64_t context = 1) {
  plan::Plan plan;
  plan.parallel.tensor = tensor;
  plan.parallel.pipeline = pipeline;
  plan.parallel.context = context;
  plan.parallel.data = job.cluster.devices() / (tensor * pipeline * context);
  plan.sequence_parallel = tensor > 1;
  return plan;
}

}  // namespace stepwright::step
