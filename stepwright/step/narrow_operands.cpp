#include "stepwright/step/narrow_operands.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "stepwright/cluster/generation.h"

namespace stepwright::step {
namespace {

constexpr int kBlackwell = 10;  // major compute capability of Blackwell

/// Names of matrices that are multiplied in the type of storage, or by no product.
constexpr std::array<std::string_view, 8> kWide = {
    "router.weight", "shared.gate", "head.weight",     "mixer.convolution",
    "mixer.decay",   "mixer.skip",  "encoder.patches", "attention.sinks"};

}  // namespace

std::int64_t low_precision_operand_layout_count(const plan::Job& job) {
  const DType storage = plan::parameter_storage_type(job.precision);
  if (job.precision == storage || job.kernels.casts != plan::LowPrecisionCastScaling::kLibrary)
    return 0;
  if (job.precision != DType::kFp8) return 2;
  return cluster::device_generation_of(job.cluster.device).compute_capability >= kBlackwell ? 1 : 2;
}

bool is_multiplied_in_low_precision(const RankLocalParameter& parameter) {
  const std::string_view name = parameter.name;
  if (parameter.columns <= 1 || parameter.borrowed || parameter.narrow) return false;
  if (name.starts_with("embedding.") || name.ends_with("_lora_a") || name.ends_with("_lora_b")) {
    return false;
  }
  return std::ranges::find(kWide, name) == kWide.end();
}

std::int64_t low_precision_weight_copy_bytes(const plan::Job& job, const plan::Plan& plan,
                                             const ModelBlockParameterCounts& size) {
  const std::int64_t elements = size.narrow_dense + size.narrow_expert;
  if (elements == 0 || plan.offload.parameters) return 0;
  const std::int64_t copies =
      low_precision_operand_layout_count(job) * bytes_of_elements(job.precision, elements);
  const bool whole = plan.sharding.parameters == plan::StateShardingScope::kNone;
  if (job.kernels.narrow_parameters) {
    return whole ? copies - bytes_of_elements(plan::parameter_storage_type(job.precision), elements)
                 : 0;
  }
  return whole || job.kernels.transformer_engine ? copies : 0;
}

}  // namespace stepwright::step
