#include "stepwright/plan/frameworks/runnable_attention.h"

#include <algorithm>

#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/plan/frameworks/law.h"

namespace stepwright::plan {

cluster::AttentionKernel runnable_attention_kernel(const Job& job, const Plan& plan) {
  const cluster::AttentionKernel own = job.kernels.attention;
  if (job.framework.name.empty()) return own;
  const cluster::AttentionKernel usual =
      default_kernels(job.framework, job.cluster.device).attention;
  if (usual == own) return own;
  const auto refusals = [&](cluster::AttentionKernel kernel) {
    Job with = job;
    with.kernels.attention = kernel;
    return std::ranges::count_if(choices_unsupported_by_framework(job.framework, with, plan),
                                 [](const UnsupportedChoice& what) {
                                   return what.ability != FrameworkProperty::kAttention;
                                 });
  };
  return refusals(usual) < refusals(own) ? usual : own;
}

}  // namespace stepwright::plan
