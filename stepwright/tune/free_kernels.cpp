#include "stepwright/tune/free_kernels.h"

#include <fmt/format.h>

#include <array>

#include "stepwright/cluster/generation.h"
#include "stepwright/cost/compute_cost.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/plan/frameworks/law.h"

namespace stepwright::tune {

plan::Job with_fastest_attention_kernel(const plan::Job& job) {
  const bool narrow =
      plan::parameter_storage_type(job.precision) == DType::kBf16 || job.precision == DType::kFp16;
  if (job.attention_stated || !narrow) return job;
  const plan::WordSet allowed = plan::selectable_attention_kernels(job.framework);
  const cluster::DeviceGeneration& device = cluster::device_generation_of(job.cluster.device);
  plan::Job chosen = job;
  for (const auto& [kernel, name] : cluster::kAttentionKernelNames) {
    const auto place = static_cast<std::size_t>(kernel);
    if (device.has_kernel[place] && allowed[place] &&
        cost::attention_peak_share(device, kernel) >
            cost::attention_peak_share(device, chosen.kernels.attention)) {
      chosen.kernels.attention = kernel;
    }
  }
  return chosen;
}

bool is_plan_limited_by_attention_kernel(const plan::Job& job) {
  if (job.framework.name.empty()) return false;
  return plan::FrameworkSupport(job.framework)
             .single_collective_algorithm_rule(std::array{plan::FrameworkProperty::kAttention}, job,
                                               plan::Plan{})
             .holds != 0;
}

std::string attention_kernel_choice_note(const plan::Job& before, const plan::Job& after) {
  const cluster::AttentionKernel kernel = after.kernels.attention;
  if (kernel == before.kernels.attention) return "";
  return fmt::format(
      "Attention is timed as the kernel {0}, the fastest that {1} on this device; the usual kernel "
      "is {2}. To time {2}, set `kernels: {{attention: {2}}}` in the job.",
      name_of(cluster::kAttentionKernelNames, kernel),
      after.framework.name.empty() ? "there is" : after.framework.name + " has",
      name_of(cluster::kAttentionKernelNames, before.kernels.attention));
}

}  // namespace stepwright::tune
