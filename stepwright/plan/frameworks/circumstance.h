#pragma once

#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// The facts of plans and jobs on which a framework's defaults depend.
enum class Circumstance : std::uint8_t {
  kEverywhere,
  kNowhere,
  kOneStage,              ///< Plans without a pipeline.
  kInterleaved,           ///< Several chunks on a pipeline position.
  kReplicatedOptimizer,   ///< No rank holds a part of the optimizer states only.
  kGradientsAsOptimizer,  ///< Gradients are spread as the optimizer states are: not ZeRO-1.
  kShardedGradients,      ///< A rank holds a part of the gradients or parameters only (FSDP).
  kShardedParameters,
  kSequenceParallel,
  kTensorOrContext,  ///< Either degree is above 1.
  kExpertOverlap,    ///< Exchanges of experts run beside computation.
  kBlackwell,        ///< Compute capability 10 and above.
};
inline constexpr Named<Circumstance> kCircumstanceNames[] = {
    {Circumstance::kEverywhere, "always"},
    {Circumstance::kNowhere, "never"},
    {Circumstance::kOneStage, "one_stage"},
    {Circumstance::kInterleaved, "interleaved"},
    {Circumstance::kReplicatedOptimizer, "replicated_optimizer"},
    {Circumstance::kGradientsAsOptimizer, "gradients_as_optimizer"},
    {Circumstance::kShardedGradients, "sharded_gradients"},
    {Circumstance::kShardedParameters, "sharded_parameters"},
    {Circumstance::kSequenceParallel, "sequence_parallel"},
    {Circumstance::kTensorOrContext, "tensor_or_context"},
    {Circumstance::kExpertOverlap, "expert_overlap"},
    {Circumstance::kBlackwell, "blackwell"}};

/// Whether it holds of a plan.
bool holds(Circumstance circumstance, const Job& job, const Plan& plan);

}  // namespace stepwright::plan
