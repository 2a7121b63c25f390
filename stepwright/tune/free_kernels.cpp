#include "stepwright/tune/free_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "stepwright/cost/device_defaults.h"
#include "stepwright/plan/frameworks.h"

namespace stepwright {
namespace {

/// Fused kernels that exist for a generation: FlashAttention 2 needs an A100 or newer, 3 is written
/// for the H100 alone (https://github.com/Dao-AILab/flash-attention), cuDNN's comes with the A100.
/// Elsewhere the usual one is all that is known.
std::vector<AttentionKernel> kernels_of(Generation generation) {
  using enum AttentionKernel;
  switch (generation) {
    case Generation::kV100: return {kFlash1};
    case Generation::kA100: return {kFlash1, kFlash2, kCudnn};
    case Generation::kH100: return {kFlash1, kFlash2, kFlash3, kCudnn};
    case Generation::kB200: return {kFlash2, kCudnn};
    case Generation::kOther: break;
  }
  return {};
}

}  // namespace

Job with_free_kernels(const Job& job) {
  const bool narrow = storage_type(job.precision) == DType::kBf16 || job.precision == DType::kFp16;
  if (job.attention_stated || !narrow) return job;
  std::vector<AttentionKernel> kernels = kernels_of(generation_of(job.cluster.device));
  if (!job.framework.name.empty()) {
    const WordSet allowed = FrameworkLaw(job.framework).allowed(Ability::kAttention, 0);
    std::erase_if(kernels, [&](AttentionKernel kernel) {
      return !allowed[static_cast<std::size_t>(kernel)];
    });
  }
  const DeviceDefaults& device = device_defaults(job.cluster.device);
  Job chosen = job;
  for (const AttentionKernel kernel : kernels) {
    if (attention_share(device, kernel) > attention_share(device, chosen.kernels.attention)) {
      chosen.kernels.attention = kernel;
    }
  }
  return chosen;
}

std::string free_kernels_note(const Job& before, const Job& after) {
  const AttentionKernel kernel = after.kernels.attention;
  if (kernel == before.kernels.attention) return "";
  return fmt::format(
      "Attention is timed as {0}, the fastest that {1} on this device; the usual kernel is {2}. "
      "With "
      "`kernels: {{attention: {2}}}` in the job it is timed as {2}.",
      name_of(kAttentionKernelNames, kernel),
      after.framework.name.empty() ? "there is" : after.framework.name + " has",
      name_of(kAttentionKernelNames, before.kernels.attention));
}

}  // namespace stepwright
