#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

#include "stepwright/runtime/rank/rank_state.h"

namespace stepwright::runtime {

/// The order of routed rows on a rank, from the counts that its expert groups shared. A rank sends
/// rows in the order of the experts. Rows arrive in runs: by the expert-tensor rank that received
/// them, then by the expert rank that sent them, then by expert.
class ExpertRows {
 public:
  /// `counts`: [ranks, experts], a row for each rank of the expert-model group.
  ExpertRows(const RankState& rank, const at::Tensor& counts);

  /// Return the rows that this rank sends to each expert rank (`sent`), and receives from each
  /// (`received`).
  [[nodiscard]] std::vector<std::int64_t> sent() const;
  [[nodiscard]] std::vector<std::int64_t> received() const;
  /// Returns the rows that each expert-tensor rank receives from outside; the expert-tensor ranks
  /// share all of them.
  [[nodiscard]] std::vector<std::int64_t> taken_in() const;
  /// Returns the number of rows of each expert of this rank.
  [[nodiscard]] std::vector<std::int64_t> of_experts() const;
  /// Returns, for each row in the order of this rank's experts, its index on arrival.
  [[nodiscard]] at::Tensor order() const;

 private:
  [[nodiscard]] std::int64_t count(std::int64_t expert_rank, std::int64_t expert_tensor_rank,
                                   std::int64_t expert) const;
  std::int64_t ranks_;         ///< Number of expert ranks.
  std::int64_t tensor_ranks_;  ///< Number of expert-tensor ranks.
  std::int64_t experts_;       ///< Experts of each rank.
  std::int64_t own_;           ///< Index of this rank among the expert ranks.
  std::int64_t own_tensor_;    ///< Index of this rank among the expert-tensor ranks.
  /// Counts, indexed by expert-tensor rank, expert rank, and expert (all of the model's).
  std::vector<std::int64_t> counts_;
};

/// Returns the copies of rows whose top k experts are `indices` [rows, k], ordered by expert, then
/// by row; a copy is its index in the flattened `indices`.
at::Tensor copies_by_expert(const at::Tensor& indices);

/// Returns those of these copies that are for the experts of this rank.
at::Tensor copies_for(const RankState& rank, const at::Tensor& indices);

/// Returns, for each row of this rank's experts, the index of its weight in the flattened weights.
/// `where`: counts of rows, or the top k of rows that were gathered or have not left their rank.
at::Tensor weight_places(const RankState& rank, const at::Tensor& where);

/// True if the rows of all ranks are gathered, and each rank selects those of its experts.
bool gathers_rows(const step::Setting& s);

}  // namespace stepwright::runtime
