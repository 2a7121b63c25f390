#pragma once

#include <cstdint>
#include <iterator>

#include "stepwright/plan/job.h"
#include "stepwright/plan/state_types.h"

namespace stepwright::plan {

/// Which tensors an optimizer updates as matrices (as Muon does); all others are updated element by
/// element.
enum class MatrixUpdateScope : std::uint8_t {
  kElements,       ///< No tensors: every update is element by element.
  kLayerMatrices,  ///< Matrices of layers, but not vocabulary and position tables.
  kMatrices,       ///< Every matrix of the model is updated as a matrix.
};

/// Moments that an optimizer keeps for each parameter, and how its update runs. "Type of the
/// masters": fp32, or fp64 if master copies are fp64.
struct OptimizerTraits {
  Optimizer optimizer;
  MatrixUpdateScope acts_on = MatrixUpdateScope::kElements;
  /// Number of moments that the optimizer keeps for each element outside of matrices, in the type
  /// of the master copies.
  int wide_moments = 0;
  /// Number of moments that the optimizer keeps for each element of a matrix, in the type of the
  /// master copies.
  int wide_matrix_moments = 0;
  /// Size of an element's optimizer moments in types narrower than the master copies, all together,
  /// in hundredths of a bit.
  std::int64_t narrow_centibits = 0;
  /// Number of elements whose narrow optimizer moments share one scale; 0: there are no scales.
  std::int64_t scale_block = 0;
  /// True if a matrix has one moment value per row and per column instead of per element
  /// (Adafactor).
  bool sums_edges = false;
  /// True for Adam's fused update kernel, on which optimizer times were measured.
  bool fused_adam = false;
  /// True if the update is a single pass over elements, so that a share of it can run on the host.
  bool can_offload = false;
};

/// Elements of 8-bit Adam moments that share one fp32 scale (bitsandbytes, functional.py: 256
/// elements; torchao optim/subclass_8bit.py: 256).
inline constexpr std::int64_t kEightBitAdamMomentsPerScale = 256;

inline constexpr OptimizerTraits kOptimizerTraits[] = {
    {.optimizer = Optimizer::kAdam,
     .wide_moments = 2,
     .wide_matrix_moments = 2,
     .fused_adam = true,
     .can_offload = true},
    {.optimizer = Optimizer::kAdamW,
     .wide_moments = 2,
     .wide_matrix_moments = 2,
     .fused_adam = true,
     .can_offload = true},
    {.optimizer = Optimizer::kAdamNarrow,
     .narrow_centibits = 2 * 1600,
     .fused_adam = true,
     .can_offload = true},
    {.optimizer = Optimizer::kSgd, .fused_adam = true, .can_offload = true},
    {.optimizer = Optimizer::kAdam8bit,
     .narrow_centibits = 2 * 800,
     .scale_block = kEightBitAdamMomentsPerScale},
    {.optimizer = Optimizer::kMuon,
     .acts_on = MatrixUpdateScope::kLayerMatrices,
     .wide_moments = 2,
     .wide_matrix_moments = 1},
    // Without the first moment, as in the paper: transformers, Adafactor(beta1=None).
    {.optimizer = Optimizer::kAdafactor,
     .acts_on = MatrixUpdateScope::kMatrices,
     .wide_moments = 1,
     .sums_edges = true}};
static_assert(std::size(kOptimizerTraits) == std::size(kOptimizerNames));

constexpr const OptimizerTraits& traits_of(Optimizer optimizer) {
  for (const OptimizerTraits& traits : kOptimizerTraits) {
    if (traits.optimizer == optimizer) return traits;
  }
  return kOptimizerTraits[0];
}

/// Returns the size of one element's optimizer moments in hundredths of a bit; `of_matrix`: the
/// element belongs to a matrix.
constexpr std::int64_t optimizer_moment_hundredth_bits_per_element(const OptimizerTraits& traits,
                                                                   const StateDataTypes& types,
                                                                   bool of_matrix) {
  const int wide = of_matrix ? traits.wide_matrix_moments : traits.wide_moments;
  return traits.narrow_centibits + wide * bytes_of_elements(types.master, 1) * 800;
}

/// Returns the bytes of one row or column sum (Adafactor) or of one scale of narrow moments.
constexpr std::int64_t moment_sum_or_scale_bytes(const StateDataTypes& types) {
  return types.master == DType::kFp64 ? 8 : 4;
}

/// Returns the bytes of one parameter's master copy, on which updates compute; 0: there is none.
constexpr std::int64_t master_copy_bytes(const StateDataTypes& types) {
  return types.has_master_copies() ? bytes_of_elements(types.master, 1) : 0;
}

/// Returns the host bytes per parameter that the host updates: its moments, its master copy, and
/// its gradient in the same type (NVIDIA/Megatron-LM
/// megatron/core/optimizer/cpu_offloading/hybrid_optimizer.py: pinned copies of parameters and
/// gradients).
constexpr double host_update_bytes_per_parameter(Optimizer optimizer, const StateDataTypes& types) {
  const auto moments = static_cast<double>(optimizer_moment_hundredth_bits_per_element(
                           traits_of(optimizer), types, false)) /
                       800;
  return moments + 2 * static_cast<double>(bytes_of_elements(types.master, 1));
}

}  // namespace stepwright::plan
