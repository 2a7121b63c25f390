#include "stepwright/runtime/kernels/expert_row_exchange.h"

#include <algorithm>
#include <numeric>

#include "stepwright/step/dispatch.h"

namespace stepwright::runtime {

ExpertRowExchange::ExpertRowExchange(const RankState& rank, const at::Tensor& counts)
    : ranks_(rank.setting.expert),
      tensor_ranks_(rank.setting.expert_tensor),
      experts_(rank.setting.model->experts->count / ranks_),
      own_(rank.place.expert),
      own_tensor_(rank.place.expert_tensor) {
  const std::int64_t all = experts_ * ranks_;
  counts_.resize(static_cast<std::size_t>(tensor_ranks_ * ranks_ * all));
  const plan::RankGrid grid(rank.plan);
  const plan::RankCoordinates& at = rank.place;
  const std::vector<std::int64_t> members = grid.group_ranks_containing(
      plan::CommunicatorKind::kExpertModel,
      grid.rank_at_coordinates(at.tensor, at.context, at.data, at.pipeline));
  const at::Tensor here = counts.cpu();
  const auto* from = here.data_ptr<std::int64_t>();
  for (std::size_t m = 0; m < members.size(); ++m) {
    const plan::RankCoordinates there = grid.coordinates(members[m]);
    const std::int64_t row = there.expert_tensor * ranks_ + there.expert;
    std::copy_n(from + static_cast<std::int64_t>(m) * all, all, counts_.begin() + row * all);
  }
}

std::int64_t ExpertRowExchange::count(std::int64_t expert_rank, std::int64_t expert_tensor_rank,
                                      std::int64_t expert) const {
  const std::int64_t row = expert_tensor_rank * ranks_ + expert_rank;
  return counts_[static_cast<std::size_t>(row * experts_ * ranks_ + expert)];
}

std::vector<std::int64_t> ExpertRowExchange::sent_row_counts() const {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(ranks_));
  for (std::int64_t expert = 0; expert < experts_ * ranks_; ++expert) {
    rows[static_cast<std::size_t>(expert / experts_)] += count(own_, own_tensor_, expert);
  }
  return rows;
}

std::vector<std::int64_t> ExpertRowExchange::received_row_counts() const {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(ranks_));
  for (std::int64_t from = 0; from < ranks_; ++from) {
    for (std::int64_t i = 0; i < experts_; ++i) {
      rows[static_cast<std::size_t>(from)] += count(from, own_tensor_, own_ * experts_ + i);
    }
  }
  return rows;
}

std::vector<std::int64_t> ExpertRowExchange::received_row_counts_of_expert_tensor_ranks() const {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(tensor_ranks_));
  for (std::int64_t tensor = 0; tensor < tensor_ranks_; ++tensor) {
    for (std::int64_t from = 0; from < ranks_; ++from) {
      for (std::int64_t i = 0; i < experts_; ++i) {
        rows[static_cast<std::size_t>(tensor)] += count(from, tensor, own_ * experts_ + i);
      }
    }
  }
  return rows;
}

std::vector<std::int64_t> ExpertRowExchange::row_counts_of_own_experts() const {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(experts_));
  for (std::int64_t tensor = 0; tensor < tensor_ranks_; ++tensor) {
    for (std::int64_t from = 0; from < ranks_; ++from) {
      for (std::int64_t i = 0; i < experts_; ++i) {
        rows[static_cast<std::size_t>(i)] += count(from, tensor, own_ * experts_ + i);
      }
    }
  }
  return rows;
}

at::Tensor ExpertRowExchange::permutation_sorting_rows_by_expert() const {
  std::vector<std::vector<std::int64_t>> by_expert(static_cast<std::size_t>(experts_));
  std::int64_t next = 0;
  for (std::int64_t tensor = 0; tensor < tensor_ranks_; ++tensor) {
    for (std::int64_t from = 0; from < ranks_; ++from) {
      for (std::int64_t i = 0; i < experts_; ++i) {
        const std::int64_t rows = count(from, tensor, own_ * experts_ + i);
        std::vector<std::int64_t>& own = by_expert[static_cast<std::size_t>(i)];
        own.resize(own.size() + static_cast<std::size_t>(rows));
        std::iota(own.end() - rows, own.end(), next);
        next += rows;
      }
    }
  }
  std::vector<std::int64_t> permutation_sorting_rows_by_expert;
  permutation_sorting_rows_by_expert.reserve(static_cast<std::size_t>(next));
  for (const auto& own : by_expert)
    permutation_sorting_rows_by_expert.insert(permutation_sorting_rows_by_expert.end(), own.begin(),
                                              own.end());
  return at::tensor(permutation_sorting_rows_by_expert, at::kLong);
}

at::Tensor sort_routed_copies_by_expert(const at::Tensor& indices) {
  return at::argsort(indices.reshape({-1}), /*stable=*/true, /*dim=*/0, /*descending=*/false);
}

at::Tensor token_copies_for_own_experts(const RankState& rank, const at::Tensor& indices) {
  const std::int64_t experts = rank.setting.model->experts->count / rank.setting.expert;
  const std::int64_t first = rank.place.expert * experts;
  const at::Tensor permutation_sorting_rows_by_expert = sort_routed_copies_by_expert(indices);
  const at::Tensor expert =
      indices.reshape({-1}).index_select(0, permutation_sorting_rows_by_expert);
  const at::Tensor own = expert.ge(first).logical_and(expert.lt(first + experts));
  return permutation_sorting_rows_by_expert.masked_select(own);
}

at::Tensor routing_weight_index_of_rows(const RankState& rank, const at::Tensor& where) {
  if (!step::sends_tokens_to_other_ranks(rank.setting)) return sort_routed_copies_by_expert(where);
  if (exchanges_tokens_by_all_gather(rank.setting))
    return token_copies_for_own_experts(rank, where);
  return ExpertRowExchange(rank, where).permutation_sorting_rows_by_expert().to(where.device());
}

bool exchanges_tokens_by_all_gather(const step::StepBuildSettings& s) {
  return s.dispatcher == plan::TokenDispatcher::kAllGather && s.expert * s.expert_tensor > 1;
}

}  // namespace stepwright::runtime
