#include "stepwright/plan/strided_ranks.h"

#include <algorithm>
#include <cassert>

namespace stepwright::plan {

void StridedRanks::add(StridedRankFactor extent) {
  if (extent.size == 1) return;
  int at = count_;
  while (at > 0 && factors_[at - 1].stride > extent.stride) --at;
  if (at > 0 && factors_[at - 1].size * factors_[at - 1].stride == extent.stride) {
    factors_[at - 1].size *= extent.size;
    merge_at(at - 1);
    return;
  }
  assert(count_ < kMaxStridedGroupFactors);
  std::copy_backward(factors_.begin() + at, factors_.begin() + count_,
                     factors_.begin() + count_ + 1);
  factors_[at] = extent;
  ++count_;
  merge_at(at);
}

/// Merges a factor with the next one if the next one continues it.
void StridedRanks::merge_at(int index) {
  if (index + 1 >= count_) return;
  StridedRankFactor& low = factors_[index];
  const StridedRankFactor& high = factors_[index + 1];
  if (low.size * low.stride != high.stride) return;
  low.size *= high.size;
  std::copy(factors_.begin() + index + 2, factors_.begin() + count_, factors_.begin() + index + 1);
  factors_[--count_] = StridedRankFactor{};
}

std::int64_t StridedRanks::size() const {
  std::int64_t ranks = 1;
  for (const StridedRankFactor& factor : *this) ranks *= factor.size;
  return ranks;
}

std::int64_t StridedRanks::block() const {
  return empty() ? 1 : factors_[count_ - 1].size * factors_[count_ - 1].stride;
}

std::int64_t StridedRanks::count_ranks_below(std::int64_t limit) const {
  if (limit <= 0) return 0;
  std::int64_t below = 0;
  std::int64_t faster = size();
  for (int i = count_ - 1; i >= 0; --i) {
    const StridedRankFactor& factor = factors_[i];
    faster /= factor.size;
    const std::int64_t whole = std::min(limit / factor.stride, factor.size);
    below += whole * faster;
    limit -= whole * factor.stride;
    if (whole == factor.size || limit == 0) return below;
  }
  return below + 1;
}

std::int64_t StridedRanks::first_rank_of_group(std::int64_t rank) const {
  std::int64_t first = rank;
  for (const StridedRankFactor& factor : *this)
    first -= rank / factor.stride % factor.size * factor.stride;
  return first;
}

std::optional<SplitRankGroup> cut_into_rank_runs(const StridedRanks& group, std::int64_t size) {
  SplitRankGroup parts;
  std::int64_t rest = size;
  for (const StridedRankFactor& factor : group) {
    std::int64_t taken = 1;
    if (rest > 0 && factor.size % rest == 0) {
      taken = rest;
    } else if (rest % factor.size == 0) {
      taken = factor.size;
    } else {
      return std::nullopt;
    }
    parts.inner.add({taken, factor.stride});
    parts.outer.add({factor.size / taken, factor.stride * taken});
    rest /= taken;
  }
  if (rest != 1) return std::nullopt;
  return parts;
}

}  // namespace stepwright::plan
