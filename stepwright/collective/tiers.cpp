#include "stepwright/collective/tiers.h"

#include <utility>

namespace stepwright::collective {

RankHierarchy::RankHierarchy(std::vector<std::int32_t> sizes) : sizes_(std::move(sizes)) {
  for (const std::int32_t size : sizes_) {
    strides_.push_back(ranks_);
    ranks_ *= size;
  }
}

std::int32_t RankHierarchy::rank_shifted_on_tier(std::int32_t rank, int level,
                                                 std::int32_t by) const {
  const std::int32_t from = at(rank, level);
  const std::int32_t to = ((from + by) % size(level) + size(level)) % size(level);
  return rank + (to - from) * rank_stride_of_tier(level);
}

}  // namespace stepwright::collective
