#pragma once

#include <ATen/ATen.h>

#include <string_view>

#include "stepwright/runtime/data/micro_batch.h"
#include "stepwright/runtime/rank/placed_operator.h"
#include "stepwright/runtime/rank/rank_state.h"

namespace stepwright::runtime {

/// An operator with its operands, ready to run on a rank.
struct Call : PlacedOperator {
  RankState& rank;
  const MicroBatch* batch = nullptr;  ///< Tokens of the micro-batch; null in an update.

  /// Returns the operand number `i`, in the order of the program, or the operator's rows of it
  /// (`Operator::rows`); throws when there is none.
  [[nodiscard]] at::Tensor read(std::size_t i) const { return own_rows(reads.at(i)->value); }
  /// True if there is an operand number `i`.
  [[nodiscard]] bool has(std::size_t i) const { return i < reads.size(); }
  /// Sets the result number `i`, or the operator's rows of it.
  void write(std::size_t i, at::Tensor value);
  /// Returns the rows of a tensor that the operator works on; all of them if it has no other rows.
  [[nodiscard]] at::Tensor own_rows(const at::Tensor& all) const;

  /// Returns the class of the operator's layer; outside of layers, the class of all layers.
  [[nodiscard]] model::LayerClass layer_class() const;
  /// Returns how many tokens further ahead the operator embeds and predicts than the model's
  /// embedding and head: the number, from 1, of its multi-token layer; 0 elsewhere.
  [[nodiscard]] std::int64_t ahead() const;

  /// Returns the type of statistics, in which norms compute, too.
  [[nodiscard]] at::ScalarType exact_type() const { return scalar_type(rank.setting.exact); }

  /// Returns the parameter that the operator uses.
  [[nodiscard]] const step::LocalParameter& parameter() const;
  /// Returns the weight of the operator, as a matrix, vector or stack of matrices.
  [[nodiscard]] at::Tensor weight() const;
  /// Returns another parameter of the block; undefined when the block has none of this name.
  [[nodiscard]] at::Tensor weight(std::string_view name) const;
  /// Returns the bias of the operator; undefined when there is none.
  [[nodiscard]] at::Tensor bias() const;
  /// Return the tensors in which the gradients of the weight and of the bias are accumulated;
  /// undefined for frozen parameters.
  [[nodiscard]] at::Tensor gradient() const;
  [[nodiscard]] at::Tensor bias_gradient() const;
  /// Returns the gradient of another parameter of the block; undefined when the block has none of
  /// this name.
  [[nodiscard]] at::Tensor gradient(std::string_view name) const;
  /// Returns the positions of this rank's rows of the residual stream, or of all tokens, by the
  /// number of `rows`.
  [[nodiscard]] at::Tensor positions(std::int64_t rows) const;
  /// Returns the indices of the same rows in the global batch.
  [[nodiscard]] at::Tensor places(std::int64_t rows) const;
};

/// Adds `value` to the gradient `into`, in the gradient's type.
void accumulate(const at::Tensor& into, const at::Tensor& value);

}  // namespace stepwright::runtime
