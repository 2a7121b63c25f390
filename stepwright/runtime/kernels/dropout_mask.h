#pragma once

#include <ATen/ATen.h>

#include <cstdint>

namespace stepwright::runtime {

struct KernelCall;

/// Kinds of dropout in a layer or the embedding; each kind draws its own random numbers.
enum class BlockDropoutKind : std::uint8_t {
  kEmbedding,
  kAfterAttention,
  kAfterMlp,
  kProbabilities,
  kQkvAdapter,
  kProjectionAdapter,
  kFc1Adapter,
  kFc2Adapter,
  kSharedFc1Adapter,
  kSharedFc2Adapter,
  kQueryDownAdapter,
  kQueryUpAdapter,
  kKeyValueDownAdapter,
  kKeyValueUpAdapter,
};

/// Inputs of the random generator for one dropout in one step.
struct DropoutGeneratorInputs {
  std::uint64_t seed = 0;
  std::int64_t step = 0;
  /// Layer index from 0; -1: a dropout outside of the layers (embedding).
  std::int64_t layer = -1;
  BlockDropoutKind place{};
  double probability = 0;  ///< Probability that dropout drops an element.
};

/// Part of a global-batch activation matrix for which a rank draws its dropout mask.
struct DropoutMaskRegion {
  at::Tensor rows;         ///< Indices, in the whole matrix, of the rank's rows.
  at::Tensor columns;      ///< Indices, in the whole matrix, of the rank's columns.
  std::int64_t width = 0;  ///< Number of columns of the whole matrix, over all ranks.
};

/// Returns the dropout mask, true for elements that are kept: bool [rows, columns]. Random numbers
/// are those of Philox4x32-10 (Salmon et al. 2011, as in ATen), keyed by the seed, with step,
/// layer, kind of dropout and the element's index in the whole matrix as counter, so all parallel
/// plans draw the same mask.
at::Tensor dropout_keep_mask(const DropoutGeneratorInputs& draw, const DropoutMaskRegion& sheet);

/// Computes the mask of `dropout_keep_mask` with tensor operations, for GPUs, so that the host need
/// not read the row indices. Draws whole rows and then selects the columns.
at::Tensor dropout_keep_mask_by_tensors(const DropoutGeneratorInputs& draw,
                                        const DropoutMaskRegion& sheet);

/// Returns the seed, step, layer and probability with which the dropout of an operator is drawn.
DropoutGeneratorInputs dropout_generator_inputs(const KernelCall& call, BlockDropoutKind place);

}  // namespace stepwright::runtime
