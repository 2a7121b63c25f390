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

/// The sums of a step on the way to its update; 1-element tensors of the exact type.
struct StepSums {
  at::Tensor loss;          ///< [2]: sum of the tokens' losses, tokens.
  at::Tensor dense_square;  ///< Sum of squares of the gradients.
  at::Tensor expert_square;
};

using ByParameter = std::map<const StoredParameter*, at::Tensor>;

/// Progress of an update that keeps sums of rows and columns, for one kind of parameters, between
/// the messages that make it whole; empty: nothing computed yet.
struct FactoredStep {
  ByParameter sums;     ///< By matrix: sums of squares along all its edges, padded.
  ByParameter own;      ///< The part of `sums` whose moments this rank holds.
  ByParameter moments;  ///< Moments of all edges.
  ByParameter squares;  ///< The sum of squares of each update.
};

/// One matrix that is made orthogonal, as a tensor rank has it.
struct LayerMatrix {
  const StoredParameter* parameter = nullptr;
  std::int64_t first = 0;  ///< Index of its first element in the parameter's flat local part.
  std::int64_t rows = 0;   ///< Here, and of the whole.
  std::int64_t whole_rows = 0;
  std::int64_t owner = 0;  ///< Who makes it orthogonal: a place among ranks that share states.

  [[nodiscard]] std::int64_t columns() const { return parameter->slice.local_columns; }
  [[nodiscard]] std::int64_t elements() const { return rows * columns(); }
};

/// Progress of an update that makes matrices orthogonal, for one kind of parameters, between the
/// messages that it needs.
struct OrthogonalStep {
  enum class Made : std::uint8_t { kNothing, kMomentum, kMatrices, kUpdates };
  Made made = Made::kNothing;
  ByParameter momentum;  ///< Momentum of what this rank holds of each.
  /// All matrices; of those that this rank makes orthogonal the values, and the updates as far as
  /// messages have come with them.
  std::vector<LayerMatrix> matrices;
  std::vector<at::Tensor> values;
  std::vector<at::Tensor> updates;
  ByParameter returned;  ///< By parameter: the part of its updates that this rank holds.
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
  /// [0]: dense parameters; [1]: experts; and so the next.
  std::array<FactoredStep, 2> factored{};
  std::array<OrthogonalStep, 2> orthogonal{};
  std::int64_t step = 0;  ///< Number of the step, from 0.
  /// The map in which the head's logits of each micro-batch are kept; null: nowhere.
  std::map<std::int32_t, at::Tensor>* logits = nullptr;

  /// The options of a new tensor of a type on the rank's device.
  [[nodiscard]] at::TensorOptions options_of(DType type) const {
    return at::TensorOptions(scalar_type(type)).device(device.place());
  }
  /// The options of new numbers of rows, positions, ...
  [[nodiscard]] at::TensorOptions index_options() const {
    return at::TensorOptions(at::kLong).device(device.place());
  }
};

}  // namespace stepwright::runtime
