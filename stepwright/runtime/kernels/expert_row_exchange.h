#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

#include "stepwright/runtime/rank/rank_state.h"

namespace stepwright::runtime {

/// Numbers and order of the rows that a rank exchanges with the ranks of its experts, from the
/// counts of routed rows. Rows are sent in the order of the experts, and arrive ordered by the
/// expert-tensor rank that received them, then by the sending expert rank, then by expert.
class ExpertRowExchange {
 public:
  /// `counts`: rows routed to each expert, [ranks of the expert-model group, experts].
  ExpertRowExchange(const RankState& rank, const at::Tensor& counts);

  /// Returns, for each expert-parallel rank, the number of rows that this rank sends to it.
  [[nodiscard]] std::vector<std::int64_t> sent_row_counts() const;
  /// Returns, for each expert-parallel rank, the number of rows that this rank receives from it.
  [[nodiscard]] std::vector<std::int64_t> received_row_counts() const;
  /// Returns, for each expert-tensor rank, the number of rows that it receives from expert-parallel
  /// ranks. Expert-tensor ranks then share all of these rows with each other.
  [[nodiscard]] std::vector<std::int64_t> received_row_counts_of_expert_tensor_ranks() const;
  /// Returns, for each expert of this rank, the number of rows that it processes.
  [[nodiscard]] std::vector<std::int64_t> row_counts_of_own_experts() const;
  /// Returns a permutation that sorts the received rows by expert: for each sorted row, its index
  /// in the order of arrival.
  [[nodiscard]] at::Tensor permutation_sorting_rows_by_expert() const;

 private:
  [[nodiscard]] std::int64_t count(std::int64_t expert_rank, std::int64_t expert_tensor_rank,
                                   std::int64_t expert) const;
  std::int64_t ranks_;         ///< Number of expert-parallel ranks.
  std::int64_t tensor_ranks_;  ///< Number of expert-tensor-parallel ranks.
  std::int64_t experts_;       ///< Number of experts on each rank.
  std::int64_t own_;           ///< Index of this rank among the expert-parallel ranks.
  std::int64_t own_tensor_;    ///< Index of this rank among the expert-tensor-parallel ranks.
  /// Numbers of routed rows, flattened from [expert-tensor rank, expert-parallel rank, expert of
  /// the model].
  std::vector<std::int64_t> counts_;
};

/// Sorts routed row copies by expert, then by row. `indices`: the top k experts of each row, [rows,
/// k]; the result holds indices into the flattened `indices`.
at::Tensor sort_routed_copies_by_expert(const at::Tensor& indices);

/// Returns those routed row copies whose expert is on this rank, sorted by expert, then by row.
/// `indices`: the top k experts of each row, [rows, k]; the result holds indices into the flattened
/// `indices`.
at::Tensor token_copies_for_own_experts(const RankState& rank, const at::Tensor& indices);

/// Returns, for each row that this rank's experts process, the index of its routing weight in the
/// flattened weights. `where`: routed row counts if rows are sent to experts, else the top k
/// experts of each row.
at::Tensor routing_weight_index_of_rows(const RankState& rank, const at::Tensor& where);

/// True if every rank of an expert group gathers the rows of all ranks and selects those of its
/// experts, instead of exchanging rows by all-to-all.
bool exchanges_tokens_by_all_gather(const step::StepBuildSettings& s);

}  // namespace stepwright::runtime
