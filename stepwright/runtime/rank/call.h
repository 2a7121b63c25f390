#pragma once

#include <ATen/ATen.h>

#include <string_view>

#include "stepwright/runtime/data/micro_batch.h"
#include "stepwright/runtime/rank/placed_operator.h"
#include "stepwright/runtime/rank/rank_state.h"

namespace stepwright::runtime {

/// One operator about to run on its operands.
struct Call : PlacedOperator {
  RankState& rank;
  const MicroBatch* batch = nullptr;  ///< Null in an update.

  /// The operand at a place, in the order of the program, or its rows of it (`Operator::rows`);
  /// throws when there is none.
  [[nodiscard]] at::Tensor read(std::size_t i) const { return own_rows(reads.at(i)->value); }
  /// Whether there is an operand at this place.
  [[nodiscard]] bool has(std::size_t i) const { return i < reads.size(); }
  /// Sets the result at a place, or its rows of it.
  void write(std::size_t i, at::Tensor value);
  /// The rows of a tensor that the operator works on, where it has more.
  [[nodiscard]] at::Tensor own_rows(const at::Tensor& all) const;

  /// The class of the layer that it is of; that of all layers where it is of none.
  [[nodiscard]] model::LayerClass layer_class() const;
  /// How many tokens further than those of the first embedding and the head it embeds and predicts:
  /// of a multi-token layer its number, from 1.
  [[nodiscard]] std::int64_t ahead() const;

  /// The type of statistics and of what norms compute in.
  [[nodiscard]] at::ScalarType exact_type() const { return scalar_type(rank.setting.exact); }

  /// Returns the operator's parameter.
  [[nodiscard]] const step::LocalParameter& parameter() const;
  /// Weight of the operator, as a matrix, vector or stack of matrices.
  [[nodiscard]] at::Tensor weight() const;
  /// Another parameter of the block; undefined when the block has none of this name.
  [[nodiscard]] at::Tensor weight(std::string_view name) const;
  /// The bias beside it; undefined when there is none.
  [[nodiscard]] at::Tensor bias() const;
  /// The tensor in which their gradients are added up; undefined of frozen ones.
  [[nodiscard]] at::Tensor gradient() const;
  [[nodiscard]] at::Tensor bias_gradient() const;
  /// The gradient of another parameter of the block; undefined when the block has none of this
  /// name.
  [[nodiscard]] at::Tensor gradient(std::string_view name) const;
  /// Positions of the rows that this rank holds of the residual stream, or of all tokens.
  [[nodiscard]] at::Tensor positions(std::int64_t rows) const;
  /// Their places in the global batch.
  [[nodiscard]] at::Tensor places(std::int64_t rows) const;
};

/// Adds to a gradient in its type.
void accumulate(const at::Tensor& into, const at::Tensor& value);

}  // namespace stepwright::runtime
