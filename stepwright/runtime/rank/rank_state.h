#pragma once

#include <ATen/ATen.h>

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "stepwright/runtime/rank/rank_device.h"
#include "stepwright/runtime/states/parameter_store.h"
#include "stepwright/runtime/train_options.h"

namespace stepwright::runtime {

class RankCommunicators;

/// Loss and squared gradient norms of a step, which the update needs from all ranks; in the type of
/// statistics (FP32 or FP64).
struct StepLossAndNormSums {
  at::Tensor loss;  ///< Sum of the losses of all tokens, and number of tokens: [2].
  /// Sum of squared gradients of dense parameters: one element.
  at::Tensor dense_square;
  at::Tensor expert_square;  ///< Sum of squared gradients of expert parameters: one element.
};

using ByParameter = std::map<const StoredParameter*, at::Tensor>;

/// Progress of an Adafactor update in one step, for dense or for expert parameters, between the
/// messages that complete it. Empty tensors: not computed yet.
struct AdafactorProgress {
  /// For each parameter, the mean squared gradients of all rows and columns of its matrices, flat
  /// and padded.
  ByParameter sums;
  /// Part of `sums` (mean squared gradients) for which this rank holds the second moments.
  ByParameter own;
  ByParameter moments;  ///< For each parameter, the second moments of all rows and columns.
  /// For each parameter, the sum of squares of its update, used to limit the update's size.
  ByParameter squares;
};

/// A matrix that Muon orthogonalizes, as one tensor-parallel rank holds it.
struct MuonMatrix {
  const StoredParameter* parameter = nullptr;
  /// Index of the matrix's first element in this rank's flattened part of the parameter.
  std::int64_t first = 0;
  /// Number of rows of the matrix on this tensor-parallel rank.
  std::int64_t rows = 0;
  std::int64_t whole_rows = 0;  ///< Rows of the whole matrix, over all tensor-parallel ranks.
  /// Rank that orthogonalizes the matrix: its index among the ranks that share optimizer states.
  std::int64_t owner = 0;

  [[nodiscard]] std::int64_t columns() const { return parameter->slice.local_columns; }
  [[nodiscard]] std::int64_t elements() const { return rows * columns(); }
};

/// Progress of a Muon update in one step, for dense or for expert parameters, between the messages
/// that complete it.
struct MuonProgress {
  enum class Made : std::uint8_t { kNothing, kMomentum, kMatrices, kUpdates };
  Made made = Made::kNothing;
  /// For each parameter, the Nesterov momentum of the elements that this rank holds.
  ByParameter momentum;
  /// All matrices that Muon orthogonalizes in this step, on any rank.
  std::vector<MuonMatrix> matrices;
  /// For each matrix, its momentum as received from the other ranks; undefined if another rank
  /// orthogonalizes the matrix.
  std::vector<at::Tensor> values;
  /// For each matrix, its orthogonalized update; undefined if another rank orthogonalizes the
  /// matrix.
  std::vector<at::Tensor> updates;
  /// For each parameter, the part of its update that this rank needs, returned by the ranks that
  /// computed it.
  ByParameter returned;
};

/// Everything that the kernels and messages of one rank use: plan, options, parameters, process
/// groups, device.
struct RankState {
  const plan::Job& job;
  const plan::Plan& plan;
  const TrainOptions& options;
  step::StepBuildSettings setting;
  plan::RankCoordinates place;
  ParameterStore& store;
  RankCommunicators& groups;
  RankDevice& device;
  StepLossAndNormSums sums{};
  /// Progress of the optimizer updates of this step; index 0: dense parameters, 1: expert
  /// parameters.
  std::array<AdafactorProgress, 2> factored{};
  std::array<MuonProgress, 2> orthogonal{};
  std::int64_t step = 0;  ///< Index of the current training step, from 0.
  /// Receives the head's logits of each micro-batch, by micro-batch index; null: logits are not
  /// kept.
  std::map<std::int32_t, at::Tensor>* logits = nullptr;

  /// Returns options that create a tensor of a number format on the rank's device.
  [[nodiscard]] at::TensorOptions tensor_options_of(DType type) const {
    return at::TensorOptions(scalar_type(type)).device(device.torch_device());
  }
  /// Returns options that create a tensor of integer indices (rows, positions, ...) on the rank's
  /// device.
  [[nodiscard]] at::TensorOptions index_tensor_options() const {
    return at::TensorOptions(at::kLong).device(device.torch_device());
  }
};

}  // namespace stepwright::runtime
