#pragma once

#include <ATen/ATen.h>

#include <string_view>

#include "stepwright/runtime/data/micro_batch.h"
#include "stepwright/runtime/rank/placed_operator.h"
#include "stepwright/runtime/rank/rank_state.h"

namespace stepwright::runtime {

/// An operator with its operands, ready to run on a rank: the argument of every kernel.
struct KernelCall : OperatorWithOperands {
  RankState& rank;
  const MicroBatch* batch = nullptr;  ///< Tokens of the micro-batch; null in an optimizer update.

  /// Returns the operand at index `i` of the operator. If the operator works on some rows only
  /// (`Operator::rows`), returns these rows. Throws if there is no such operand.
  [[nodiscard]] at::Tensor read_operand(std::size_t i) const {
    return rows_used_by_operator(reads.at(i)->value);
  }
  /// True if the operator has an operand at index `i`.
  [[nodiscard]] bool has_operand(std::size_t i) const { return i < reads.size(); }
  /// Stores a result of the operator; `i`: its index. If the operator works on some rows only
  /// (`Operator::rows`), `value` replaces these rows of the result.
  void write_result(std::size_t i, at::Tensor value);
  /// Returns the rows of a tensor on which the operator works: those in `Operator::rows`, or all.
  [[nodiscard]] at::Tensor rows_used_by_operator(const at::Tensor& all) const;

  /// Returns the layer class (window, experts, ...) of the operator's layer; outside of layers, the
  /// model's default class.
  [[nodiscard]] model::LayerClass layer_class() const;
  /// Returns the number, from 1, of the multi-token prediction layer that the operator belongs to,
  /// which predicts that many tokens further ahead than the model's head; 0: none.
  [[nodiscard]] std::int64_t multi_token_depth() const;

  /// Returns the type of statistics and norms: FP32, or FP64 in FP64 jobs.
  [[nodiscard]] at::ScalarType data_type_of_statistics() const {
    return scalar_type(rank.setting.exact);
  }

  /// Returns the description of the parameter that the operator uses: its name and local sizes.
  [[nodiscard]] const step::RankLocalParameter& operator_parameter() const;
  /// Returns the weight that the operator uses, on this rank: a matrix, a vector or a stack of
  /// expert matrices.
  [[nodiscard]] at::Tensor operator_weight() const;
  /// Returns a parameter of the operator's block by name; undefined if the block has none of this
  /// name.
  [[nodiscard]] at::Tensor operator_weight(std::string_view name) const;
  /// Returns the bias of the operator's weight; undefined if it has none.
  [[nodiscard]] at::Tensor bias() const;
  /// Returns the tensor that sums gradients of the operator's weight; undefined if it is frozen.
  [[nodiscard]] at::Tensor gradient() const;
  /// Returns the tensor that sums gradients of the operator's bias; undefined if it is frozen.
  [[nodiscard]] at::Tensor bias_gradient() const;
  /// Returns the tensor to which the gradient of a parameter of the operator's block is added, by
  /// name; undefined if the block has none of this name or it is frozen.
  [[nodiscard]] at::Tensor gradient(std::string_view name) const;
  /// Returns the positions of tokens in their sequences. `rows`: number of all tokens of the
  /// micro-batch, or of this rank's share of them under sequence parallelism; decides which of the
  /// two is returned.
  [[nodiscard]] at::Tensor token_positions_in_sequences(std::int64_t rows) const;
  /// Returns the indices of tokens in the global batch. `rows`: number of all tokens of the
  /// micro-batch, or of this rank's share of them under sequence parallelism; decides which of the
  /// two is returned.
  [[nodiscard]] at::Tensor token_indices_in_global_batch(std::int64_t rows) const;
};

/// Adds `value` to the gradient tensor `into`, converted to its type.
void accumulate_gradient(const at::Tensor& into, const at::Tensor& value);

}  // namespace stepwright::runtime
