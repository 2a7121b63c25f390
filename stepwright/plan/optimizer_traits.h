#pragma once

#include <cstdint>
#include <iterator>

#include "stepwright/plan/job.h"
#include "stepwright/plan/state_types.h"

namespace stepwright::plan {

/// Tensors that an optimizer treats as matrices; the rest are single elements to it.
enum class ActsOn : std::uint8_t {
  kElements,       ///< None: every tensor is single elements.
  kLayerMatrices,  ///< Matrices of layers: neither tables of the vocabulary nor of positions.
  kMatrices,       ///< All matrices of the model.
};

/// States that an optimizer keeps of a parameter, in bits of an fp32 update; one whose masters are
/// fp64 keeps its wide moments in fp64.
struct OptimizerTraits {
  Optimizer optimizer;
  ActsOn acts_on = ActsOn::kElements;
  int wide_moments = 0;  ///< Moments in the type of the masters.
  /// Moments of elements of matrices, in the type of the masters.
  int wide_matrix_moments = 0;
  std::int64_t narrow_centibits = 0;  ///< Centibits of an element's narrower moments.
  /// Elements of narrower moments that share a scale; 0: they have none.
  std::int64_t scale_block = 0;
  /// Matrices keep a number for each row and each column instead of elements.
  bool sums_edges = false;
  /// Adam's fused update, which is what operators of updates were measured with.
  bool fused_adam = false;
  /// True if its update is one pass over elements, so that a host can take over a part.
  bool can_offload = false;
};

/// Blocks of 8-bit moments that share a scale in fp32 (bitsandbytes, functional.py: 256 elements;
/// torchao optim/subclass_8bit.py: 256).
inline constexpr std::int64_t kScaleBlock = 256;

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
    {.optimizer = Optimizer::kAdam8bit, .narrow_centibits = 2 * 800, .scale_block = kScaleBlock},
    {.optimizer = Optimizer::kMuon,
     .acts_on = ActsOn::kLayerMatrices,
     .wide_moments = 2,
     .wide_matrix_moments = 1},
    // The first moment is off, as its paper has it: transformers, Adafactor(beta1=None).
    {.optimizer = Optimizer::kAdafactor,
     .acts_on = ActsOn::kMatrices,
     .wide_moments = 1,
     .sums_edges = true}};
static_assert(std::size(kOptimizerTraits) == std::size(kOptimizerNames));

constexpr const OptimizerTraits& traits_of(Optimizer optimizer) {
  for (const OptimizerTraits& traits : kOptimizerTraits) {
    if (traits.optimizer == optimizer) return traits;
  }
  return kOptimizerTraits[0];
}

/// Centibits of the moments of an element, alone and as one of a matrix.
constexpr std::int64_t moment_centibits(const OptimizerTraits& traits, const StateTypes& types,
                                        bool of_matrix) {
  const int wide = of_matrix ? traits.wide_matrix_moments : traits.wide_moments;
  return traits.narrow_centibits + wide * size_bytes(types.master, 1) * 800;
}

/// The bytes of a sum of a row or a column, or of the scale of a block.
constexpr std::int64_t number_bytes(const StateTypes& types) {
  return types.master == DType::kFp64 ? 8 : 4;
}

/// The bytes of a copy of a parameter that its update computes with; 0 where there is none.
constexpr std::int64_t master_copy_bytes(const StateTypes& types) {
  return types.copies() ? size_bytes(types.master, 1) : 0;
}

/// Bytes that the host holds of a parameter whose update it does: the moments, what it computes
/// with, and the gradient in the same type (NVIDIA/Megatron-LM
/// megatron/core/optimizer/cpu_offloading/hybrid_optimizer.py: pinned copies of parameters and
/// gradients).
constexpr double host_bytes_of_element(Optimizer optimizer, const StateTypes& types) {
  const auto moments =
      static_cast<double>(moment_centibits(traits_of(optimizer), types, false)) / 800;
  return moments + 2 * static_cast<double>(size_bytes(types.master, 1));
}

}  // namespace stepwright::plan
