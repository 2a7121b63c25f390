#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

#include "stepwright/runtime/rank/rank_state.h"

namespace stepwright::runtime {

/// The place on a rank of the rows of the routed path, from the counts that its expert groups
/// shared. A rank sends rows in the order of the experts. They arrive in runs: by the expert-tensor
/// rank that took them in, by the expert rank that sent them, by expert.
class ExpertRows {
 public:
  /// `counts`: [ranks, experts], a row for each rank of the expert-model group.
  ExpertRows(const RankState& rank, const at::Tensor& counts);

  /// Rows that this rank sends to each expert rank, and gets from each.
  [[nodiscard]] std::vector<std::int64_t> sent() const;
  [[nodiscard]] std::vector<std::int64_t> received() const;
  /// Rows that each expert-tensor rank takes in; the expert-tensor ranks share all of them.
  [[nodiscard]] std::vector<std::int64_t> taken_in() const;
  /// Rows of each expert of this rank.
  [[nodiscard]] std::vector<std::int64_t> of_experts() const;
  /// Per row in the order of this rank's experts, where it arrived.
  [[nodiscard]] at::Tensor order() const;

 private:
  [[nodiscard]] std::int64_t count(std::int64_t expert_rank, std::int64_t expert_tensor_rank,
                                   std::int64_t expert) const;
  std::int64_t ranks_;                ///< Number of expert ranks.
  std::int64_t tensor_ranks_;         ///< Number of expert-tensor ranks.
  std::int64_t experts_;              ///< Experts of each rank.
  std::int64_t own_;                  ///< Index of this rank among the expert ranks.
  std::int64_t own_tensor_;           ///< Index of this rank among the expert-tensor ranks.
  std::vector<std::int64_t> counts_;  ///< Counts by expert-tensor rank, expert rank, expert of all.
};

/// The copies of rows whose top k are `indices` [rows, k], in the order of the experts and, of one
/// expert, of the rows: places in the flattened indices.
at::Tensor copies_by_expert(const at::Tensor& indices);

/// The copies among them for the experts of a rank.
at::Tensor copies_for(const RankState& rank, const at::Tensor& indices);

/// The place of the weight of each row of this rank's experts in the flattened weights. `where`:
/// counts of rows, or the top k of rows that were gathered or have not left their rank.
at::Tensor weight_places(const RankState& rank, const at::Tensor& where);

/// Whether all ranks' rows are gathered, and each rank picks those of its experts.
bool gathers_rows(const step::Setting& s);

}  // namespace stepwright::runtime
