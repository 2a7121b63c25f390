#pragma once

#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// The facts of plans and jobs on which a framework's defaults depend.
enum class Circumstance : std::uint8_t {
  kEverywhere,
  kNowhere,
  kOneStage,              ///< Plans without a pipeline.
  kInterleaved,           ///< Plans with several chunks on each pipeline position.
  kReplicatedOptimizer,   ///< Every rank holds all optimizer states of its parameters: no ZeRO.
  kGradientsAsOptimizer,  ///< Gradients are sharded as the optimizer states are: not ZeRO-1.
  kShardedGradients,      ///< Gradients or parameters are sharded over ranks (FSDP).
  kShardedParameters,
  kSequenceParallel,
  kTensorOrContext,  ///< The tensor or the context degree is above 1.
  kExpertOverlap,    ///< Exchanges of expert parallelism overlap computation.
  kBlackwell,        ///< Devices of compute capability 10 and above.
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

/// True if a circumstance applies to a plan and its job.
bool holds(Circumstance circumstance, const Job& job, const Plan& plan);

}  // namespace stepwright::plan
