#pragma once

#include <cstdint>
#include <optional>

#include "stepwright/core/named.h"
#include "stepwright/plan/job.h"
#include "stepwright/step/operator.h"

namespace stepwright::cost {

/// Classes of computations that are measured and fitted separately: by what the kernel computes,
/// and by whether the framework fuses it.
enum class OperatorClass : std::uint8_t {
  kProduct,         ///< Matrix product; a grouped one counts as several.
  kScores,          ///< Unfused attention: batched product Q K^T.
  kAttendValues,    ///< Unfused attention: batched product P V.
  kAttention,       ///< Fused attention kernel (FlashAttention, cuDNN).
  kCausalSoftmax,   ///< Causal mask and softmax in one kernel.
  kUnfusedSoftmax,  ///< Softmax alone, by the framework's own kernel.
  kMask,            ///< Causal mask alone, in a kernel before an unfused softmax.
  kNorm,            ///< Norm in one fused kernel.
  kUnfusedNorm,     ///< Norm by several unfused kernels, in fp32.
  kActivation,      ///< Activation function in one fused kernel.
  kUnfusedRotary,   ///< Rotary embedding by several unfused kernels.
  kResidual,        ///< Residual addition of two tensors.
  kEmbedding,       ///< Embedding look-up: rows of a table.
  kLoss,            ///< Unfused cross entropy over a rank's logits.
  /// Optimizer update by multi-tensor kernels; `OperatorShape::batch` is the number of layers whose
  /// tensors they update.
  kOptimizer,
  kUnfusedOptimizer,  ///< Optimizer update with one kernel per tensor and arithmetic step.
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

/// The unit of operator measurements: the forward, or the whole backward (data and weight gradient
/// together).
enum class OperatorPass : std::uint8_t { kForward, kBackward };
inline constexpr Named<OperatorPass> kPassNames[] = {{OperatorPass::kForward, "forward"},
                                                     {OperatorPass::kBackward, "backward"}};
inline constexpr std::size_t kPasses = std::size(kPassNames);

/// Returns whether a phase of a step is priced as forward or as backward; recomputation and
/// optimizer updates count as forward.
constexpr OperatorPass forward_or_backward_of_phase(step::Phase phase) {
  return step::is_backward_phase(phase) ? OperatorPass::kBackward : OperatorPass::kForward;
}

/// Returns the fitted class that prices an operator with these kernels of a framework; nullopt for
/// communication and for operators that were never measured (fused rotary embeddings, permutations,
/// dropout, ...).
std::optional<OperatorClass> priced_operator_class(const step::Operator& op,
                                                   const plan::FrameworkKernels& kernels);

/// True for matrix products and attention, which FLOP/s may limit; all other classes are limited by
/// memory bandwidth.
constexpr bool can_be_compute_bound(OperatorClass what) {
  return what <= OperatorClass::kAttention;
}

/// Returns how many equal operators of a step one measured time of the class stands for: an unfused
/// loss passes twice over the logits in the forward, and each product of unfused attention has two
/// gradients. A matrix product's two gradients differ, so they count as one measurement.
constexpr int operators_per_measured_time(OperatorClass what, OperatorPass pass) {
  const bool forward = pass == OperatorPass::kForward;
  if (what == OperatorClass::kLoss) return forward ? 2 : 1;
  if (what == OperatorClass::kScores || what == OperatorClass::kAttendValues) {
    return forward ? 1 : 2;
  }
  return 1;
}

}  // namespace stepwright::cost
