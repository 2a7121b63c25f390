#pragma once

#include "stepwright/cluster/attention_kernel.h"
#include "stepwright/plan/job.h"
#include "stepwright/plan/plan.h"

namespace stepwright::plan {

/// Returns the attention kernel with which the job's framework runs a plan: the job's own, or the
/// framework's default kernel if more of the plan's other choices are supported with it.
cluster::AttentionKernel runnable_attention_kernel(const Job& job, const Plan& plan);

}  // namespace stepwright::plan
