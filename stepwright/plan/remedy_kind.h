#pragma once

#include <cstdint>

#include "stepwright/core/named.h"

namespace stepwright::plan {

/// Kinds of changes that let a job fit in memory, by increasing effort for the user.
enum class MemoryRemedyKind : std::uint8_t {
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
inline constexpr Named<MemoryRemedyKind> kRemedyKindNames[] = {
    {MemoryRemedyKind::kLossChunks, "loss_chunks"},
    {MemoryRemedyKind::kRecompute, "recompute"},
    {MemoryRemedyKind::kMicroBatch, "micro_batch"},
    {MemoryRemedyKind::kHostActivations, "host_activations"},
    {MemoryRemedyKind::kHostOptimizer, "host_optimizer"},
    {MemoryRemedyKind::kParametersOnHost, "host_parameters"},
    {MemoryRemedyKind::kOptimizerStates, "optimizer_states"},
    {MemoryRemedyKind::kSplit, "split"},
    {MemoryRemedyKind::kNodes, "nodes"}};

}  // namespace stepwright::plan
