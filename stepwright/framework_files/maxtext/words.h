#pragma once

#include <cstdint>
#include <string_view>

#include "stepwright/core/named.h"
#include "stepwright/plan/job.h"
#include "stepwright/plan/plan.h"

namespace stepwright::framework_files {

// Words in MaxText's configurations, for writing and reading.

inline constexpr Named<plan::RecomputeKind> kWrittenPolicies[] = {
    {plan::RecomputeKind::kNone, "minimal_with_context"},
    {plan::RecomputeKind::kSelective, "minimal"},
    {plan::RecomputeKind::kFull, "full"}};
inline constexpr Named<plan::ContextKind> kContextStrategies[] = {
    {plan::ContextKind::kAllGather, "all_gather"},
    {plan::ContextKind::kRing, "ring"},
    {plan::ContextKind::kUlysses, "ulysses"}};
inline constexpr Named<DType> kJaxTypes[] = {{DType::kBf16, "bfloat16"}, {DType::kFp32, "float32"}};
inline constexpr Named<plan::Optimizer> kJaxOptimizers[] = {{plan::Optimizer::kAdamW, "adamw"},
                                                            {plan::Optimizer::kAdamW, "adam_pax"},
                                                            {plan::Optimizer::kSgd, "sgd"}};
inline constexpr Named<cluster::AttentionKernel> kJaxAttention[] = {
    {cluster::AttentionKernel::kUnfused, "dot_product"},
    {cluster::AttentionKernel::kCudnn, "cudnn_flash_te"}};

/// Sizes of the axes of MaxText's device mesh, each a degree of parallelism.
struct MaxTextMeshSizes {
  std::int64_t data = 1, pipeline = 1, fsdp = 1, context = 1, tensor = 1, tensor_sequence = 1,
               expert = 1;
};
struct MaxTextAxis {
  std::string_view name;
  std::int64_t MaxTextMeshSizes::* size;
};
/// Axes of MaxText's device mesh, innermost first: neighbouring ranks differ in the first one
/// (base.yml, mesh_axes).
inline constexpr MaxTextAxis kMaxTextMeshAxes[] = {
    {"expert", &MaxTextMeshSizes::expert}, {"tensor_sequence", &MaxTextMeshSizes::tensor_sequence},
    {"tensor", &MaxTextMeshSizes::tensor}, {"context", &MaxTextMeshSizes::context},
    {"fsdp", &MaxTextMeshSizes::fsdp},     {"pipeline", &MaxTextMeshSizes::pipeline},
    {"data", &MaxTextMeshSizes::data}};

/// A rematerialization policy of MaxText and the recomputation of plans that it means (base.yml,
/// remat_policy; src/maxtext/layers/decoders.py, get_remat_policy).
struct MaxTextRematPolicy {
  std::string_view name;
  plan::ActivationRecomputation recompute;
  /// Property of the policy that plans cannot express exactly; empty: none.
  std::string_view leaves_out = {};
};
inline constexpr std::string_view kNearestPolicy = "what it keeps exactly";
inline constexpr std::string_view kOffloaded = "offload to the host";

}  // namespace stepwright::framework_files
