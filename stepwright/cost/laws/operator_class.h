#pragma once

#include <cstdint>
#include <optional>

#include "stepwright/core/named.h"
#include "stepwright/plan/job.h"
#include "stepwright/step/operator.h"

namespace stepwright::cost {

/// A class of computations that follow one law: by what the kernel computes, and by how the
/// framework wrote it.
enum class OperatorClass : std::uint8_t {
  kProduct,         ///< kLinear; kGroupedLinear as several products at once
  kScores,          ///< kScores: batched Q K^T
  kAttendValues,    ///< kAttendValues: batched P V
  kAttention,       ///< kAttention: a fused kernel
  kCausalSoftmax,   ///< kSoftmax: mask and softmax in one kernel
  kUnfusedSoftmax,  ///< kSoftmax: softmax alone, the framework's own
  kMask,            ///< the mask alone, before an unfused softmax
  kNorm,            ///< kNorm: one fused kernel
  kUnfusedNorm,     ///< kNorm: several kernels, in fp32
  kActivation,      ///< kActivation: one fused kernel
  kUnfusedRotary,   ///< kRotary: several kernels in turn
  kResidual,        ///< kAdd: a sum of two tensors
  kEmbedding,       ///< kEmbedding: rows of a table
  kLoss,            ///< kLossLocal: an unfused cross entropy
  /// kOptimizer: multi-tensor kernels; `Shape::batch` is the number of layers whose tensors they
  /// update
  kOptimizer,
  kUnfusedOptimizer,  ///< kOptimizer: a kernel per tensor and step of the update
};
inline constexpr Named<OperatorClass> kOperatorClassNames[] = {
    {OperatorClass::kProduct, "product"},
    {OperatorClass::kScores, "scores"},
    {OperatorClass::kAttendValues, "attend_values"},
    {OperatorClass::kAttention, "attention"},
    {OperatorClass::kCausalSoftmax, "causal_softmax"},
    {OperatorClass::kUnfusedSoftmax, "unfused_softmax"},
    {OperatorClass::kMask, "mask"},
    {OperatorClass::kNorm, "norm"},
    {OperatorClass::kUnfusedNorm, "unfused_norm"},
    {OperatorClass::kActivation, "activation"},
    {OperatorClass::kUnfusedRotary, "unfused_rotary"},
    {OperatorClass::kResidual, "residual"},
    {OperatorClass::kEmbedding, "embedding"},
    {OperatorClass::kLoss, "loss"},
    {OperatorClass::kOptimizer, "optimizer"},
    {OperatorClass::kUnfusedOptimizer, "unfused_optimizer"}};
inline constexpr std::size_t kOperatorClasses = std::size(kOperatorClassNames);

/// The pass of an operator that one measurement covers: the forward, or the whole backward (data
/// and weight gradient).
enum class Pass : std::uint8_t { kForward, kBackward };
inline constexpr Named<Pass> kPassNames[] = {{Pass::kForward, "forward"},
                                             {Pass::kBackward, "backward"}};
inline constexpr std::size_t kPasses = std::size(kPassNames);

/// Returns the pass of a phase; recomputation and updates count as forward.
constexpr Pass operator_pass(step::Phase phase) {
  return step::is_backward(phase) ? Pass::kBackward : Pass::kForward;
}

/// Returns the class of an operator under the framework's kernels; nullopt for operators that were
/// never sampled (fused rotary embeddings, permutations, dropout, ...) and for communication.
std::optional<OperatorClass> class_of(const step::Operator& op, const plan::Kernels& kernels);

/// True if the class is a matrix product or an attention, so that arithmetic may limit it.
constexpr bool has_arithmetic(OperatorClass what) { return what <= OperatorClass::kAttention; }

/// Returns the number of equal operators of a program that one measured time of the class covers:
/// an unfused loss passes twice over the logits in the forward, and the two products of unfused
/// attention have two gradients each. A product's data and weight gradients are not equal; the law
/// divides them.
constexpr int operators_per_measurement(OperatorClass what, Pass pass) {
  const bool forward = pass == Pass::kForward;
  if (what == OperatorClass::kLoss) return forward ? 2 : 1;
  if (what == OperatorClass::kScores || what == OperatorClass::kAttendValues) {
    return forward ? 1 : 2;
  }
  return 1;
}

}  // namespace stepwright::cost
