#pragma once

#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// Conditions on a plan and its job under which a framework's default applies.
enum class FrameworkDefaultCondition : std::uint8_t {
  kEverywhere,
  kNowhere,
  kOneStage,              ///< The plan has no pipeline parallelism.
  kInterleaved,           ///< Each pipeline rank has several model chunks (interleaved schedules).
  kReplicatedOptimizer,   ///< Optimizer states are not sharded: no ZeRO.
  kGradientsAsOptimizer,  ///< Gradients are sharded like the optimizer states (not ZeRO-1).
  kShardedGradients,      ///< Gradients or parameters are sharded (FSDP, ZeRO-2 or -3).
  kShardedParameters,
  kSequenceParallel,
  kTensorOrContext,  ///< The tensor or the context degree is above 1.
  kExpertOverlap,    ///< Expert-parallel all-to-alls overlap computation.
  kBlackwell,        ///< The device has compute capability 10 or above.
};
inline constexpr Named<FrameworkDefaultCondition> kCircumstanceNames[] = {
    {FrameworkDefaultCondition::kEverywhere, "always"},
    {FrameworkDefaultCondition::kNowhere, "never"},
    {FrameworkDefaultCondition::kOneStage, "one_stage"},
    {FrameworkDefaultCondition::kInterleaved, "interleaved"},
    {FrameworkDefaultCondition::kReplicatedOptimizer, "replicated_optimizer"},
    {FrameworkDefaultCondition::kGradientsAsOptimizer, "gradients_as_optimizer"},
    {FrameworkDefaultCondition::kShardedGradients, "sharded_gradients"},
    {FrameworkDefaultCondition::kShardedParameters, "sharded_parameters"},
    {FrameworkDefaultCondition::kSequenceParallel, "sequence_parallel"},
    {FrameworkDefaultCondition::kTensorOrContext, "tensor_or_context"},
    {FrameworkDefaultCondition::kExpertOverlap, "expert_overlap"},
    {FrameworkDefaultCondition::kBlackwell, "blackwell"}};

/// True if a condition for a framework's default applies to a plan and its job.
bool default_condition_applies(FrameworkDefaultCondition circumstance, const Job& job,
                               const Plan& plan);

}  // namespace stepwright::plan
