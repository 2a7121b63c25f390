#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "stepwright/core/named.h"
#include "stepwright/simulate/timeline/prices.h"
#include "stepwright/step/program.h"

namespace stepwright::simulate {

/// The kinds of computation in a step, as they are reported to users.
enum class ComputationKind : std::uint8_t {
  kProducts,   ///< Matrix products of layers, except those of experts.
  kAttention,  ///< The core of attention: scores, softmax and values.
  kExperts,    ///< Grouped matrix products of routed experts.
  kRouting,  ///< The choice of experts, and the copying of rows into the order of experts and back.
  kMemoryBound,  ///< Norms, activations, additions, rotary embeddings, dropout, sums of gradients.
  kVocabulary,   ///< Computation of the embedding, and of the head with its norm and loss.
};
inline constexpr Named<ComputationKind> kComputeKindNames[] = {
    {ComputationKind::kProducts, "products"},        {ComputationKind::kAttention, "attention"},
    {ComputationKind::kExperts, "experts"},          {ComputationKind::kRouting, "routing"},
    {ComputationKind::kMemoryBound, "memory_bound"}, {ComputationKind::kVocabulary, "vocabulary"}};
inline constexpr std::size_t kComputeKinds = std::size(kComputeKindNames);

/// Seconds of computation, indexed by `ComputationKind`.
using ComputeSeconds = std::array<double, kComputeKinds>;

/// Seconds of computation by kind: in all, and the part that recomputation repeats.
struct ComputationSecondsByKind {
  ComputeSeconds all{};
  ComputeSeconds recomputed{};
};

/// Returns the predicted seconds (without slow-down by messages) of the compute stream of a stage
/// over a step, by kind of computation and without the optimizer update.
ComputationSecondsByKind computation_seconds_by_kind(const step::StepProgram& program,
                                                     const step::PipelineStageProgram& stage,
                                                     const Prices& prices);

/// Returns the FLOPs of a stage's matrix products and attention over a step that are useful:
/// without positions behind a causal mask and without recomputation.
double useful_flops_of_stage(const step::StepProgram& program,
                             const step::PipelineStageProgram& stage);

}  // namespace stepwright::simulate
