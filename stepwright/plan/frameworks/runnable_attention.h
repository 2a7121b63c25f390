#pragma once

#include "stepwright/cluster/attention_kernel.h"
#include "stepwright/plan/job.h"
#include "stepwright/plan/plan.h"

namespace stepwright::plan {

/// The kernel of attention with which the job's framework starts a plan: the job's own, or the
/// framework's usual one where the framework runs more of the plan with that. Kernels of attention
/// themselves do not count.
cluster::AttentionKernel runnable_attention(const Job& job, const Plan& plan);

}  // namespace stepwright::plan
