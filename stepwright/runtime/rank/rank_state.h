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

class Groups;

/// The sums that a step's update needs; 1-element tensors of the exact type.
struct StepSums {
  at::Tensor loss;  ///< Sum of the tokens' losses, and number of tokens: [2].
  /// Sum of squares of the gradients of dense parameters; `expert_square`: of experts.
  at::Tensor dense_square;
  at::Tensor expert_square;
};

using ByParameter = std::map<const StoredParameter*, at::Tensor>;

/// The progress of an update (Adafactor) that keeps sums of rows and columns, for one kind of
/// parameters, between the messages that complete it; empty: nothing computed yet.
struct FactoredStep {
  ByParameter sums;  ///< For each matrix, sums of squares along all its rows and columns, padded.
  ByParameter own;   ///< The part of `sums` whose moments this rank holds.
  ByParameter moments;  ///< Moments of all rows and columns.
  ByParameter squares;  ///< For each parameter, the sum of squares of its update.
};

/// A matrix that is made orthogonal, as a tensor rank has it.
struct LayerMatrix {
  const StoredParameter* parameter = nullptr;
  std::int64_t first = 0;  ///< Index of its first element in the parameter's flat local part.
  std::int64_t rows = 0;   ///< Rows on this rank; `whole_rows`: rows of the whole matrix.
  std::int64_t whole_rows = 0;
  /// The rank that makes it orthogonal: its index among the ranks that share states.
  std::int64_t owner = 0;

  [[nodiscard]] std::int64_t columns() const { return parameter->slice.local_columns; }
  [[nodiscard]] std::int64_t elements() const { return rows * columns(); }
};

/// The progress of an update (Muon) that makes matrices orthogonal, for one kind of parameters,
/// between the messages that it needs.
struct OrthogonalStep {
  enum class Made : std::uint8_t { kNothing, kMomentum, kMatrices, kUpdates };
  Made made = Made::kNothing;
  ByParameter momentum;  ///< Momentum of this rank's part of each parameter.
  /// All matrices; for the matrices that this rank makes orthogonal, their values, and their
  /// updates as far as messages have brought them.
  std::vector<LayerMatrix> matrices;
  std::vector<at::Tensor> values;
  std::vector<at::Tensor> updates;
  ByParameter returned;  ///< For each parameter, the part of its updates that this rank holds.
};

/// Everything that the operators of one rank work with.
struct RankState {
  const plan::Job& job;
  const plan::Plan& plan;
  const TrainOptions& options;
  step::Setting setting;
  plan::Coordinates place;
  ParameterStore& store;
  Groups& groups;
  RankDevice& device;
  StepSums sums{};
  /// Progress of the updates; index 0: dense parameters, 1: experts.
  std::array<FactoredStep, 2> factored{};
  std::array<OrthogonalStep, 2> orthogonal{};
  std::int64_t step = 0;  ///< Number of the present step, from 0.
  /// The map that collects the head's logits of each micro-batch; null: they are not kept.
  std::map<std::int32_t, at::Tensor>* logits = nullptr;

  /// Returns the options of a new tensor of a type on the rank's device.
  [[nodiscard]] at::TensorOptions options_of(DType type) const {
    return at::TensorOptions(scalar_type(type)).device(device.place());
  }
  /// Returns the options of a new tensor of indices (rows, positions, ...).
  [[nodiscard]] at::TensorOptions index_options() const {
    return at::TensorOptions(at::kLong).device(device.place());
  }
};

}  // namespace stepwright::runtime
