#pragma once

#include <cstdint>

#include "stepwright/core/named.h"

namespace stepwright::plan {

/// Kinds of changes that let a job fit in memory, by increasing effort for the user.
enum class RemedyKind : std::uint8_t {
  kLossChunks,        ///< Use a loss that keeps fewer logits.
  kRecompute,         ///< Recompute more of the activations.
  kMicroBatch,        ///< Use a smaller micro-batch.
  kHostActivations,   ///< Keep activations in host memory.
  kHostOptimizer,     ///< Keep optimizer states in host memory.
  kParametersOnHost,  ///< Keep parameters, gradients and optimizer states in host memory.
  kOptimizerStates,   ///< Use narrower optimizer states.
  kSplit,             ///< Use other degrees of parallelism, or another sharding.
  kNodes,             ///< Take more nodes than planned.
};
inline constexpr Named<RemedyKind> kRemedyKindNames[] = {
    {RemedyKind::kLossChunks, "loss_chunks"},
    {RemedyKind::kRecompute, "recompute"},
    {RemedyKind::kMicroBatch, "micro_batch"},
    {RemedyKind::kHostActivations, "host_activations"},
    {RemedyKind::kHostOptimizer, "host_optimizer"},
    {RemedyKind::kParametersOnHost, "host_parameters"},
    {RemedyKind::kOptimizerStates, "optimizer_states"},
    {RemedyKind::kSplit, "split"},
    {RemedyKind::kNodes, "nodes"}};

}  // namespace stepwright::plan
