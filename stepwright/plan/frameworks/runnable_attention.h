#pragma once

#include "stepwright/cluster/attention_kernel.h"
#include "stepwright/plan/job.h"
#include "stepwright/plan/plan.h"

namespace stepwright::plan {

/// Returns the attention kernel with which the job's framework runs a plan: the job's kernel, or
/// the framework's default if the framework runs more of the plan's choices with it. The attention
/// kernel itself is not counted as a choice.
cluster::AttentionKernel runnable_attention(const Job& job, const Plan& plan);

}  // namespace stepwright::plan
