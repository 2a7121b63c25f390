#pragma once

#include <cstdint>

#include "stepwright/core/named.h"

namespace stepwright::plan {

/// Changes that let a job fit in memory, in the order of what they ask of people.
enum class RemedyKind : std::uint8_t {
  kLossChunks,        ///< A loss that keeps fewer logits.
  kRecompute,         ///< Recompute more of the activations.
  kMicroBatch,        ///< Use a smaller micro-batch.
  kHostActivations,   ///< Activations in the memory of the host.
  kHostOptimizer,     ///< States of the optimizer there.
  kParametersOnHost,  ///< Parameters, gradients and states of the optimizer there.
  kOptimizerStates,   ///< Narrower states of the optimizer.
  kSplit,             ///< Other degrees of parallelism, or another sharding.
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
