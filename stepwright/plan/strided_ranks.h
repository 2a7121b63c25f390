#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace stepwright::plan {

/// `size` ranks at equal distance: each is `stride` ranks after the one before. A factor of a group
/// of ranks.
struct StridedRankFactor {
  std::int64_t size = 1;
  std::int64_t stride = 1;
  auto operator<=>(const StridedRankFactor&) const = default;
};

/// A group of ranks as a product of strided factors, fastest first: each rank is the first rank
/// plus a multiple of every stride. Each stride is a multiple of the ranks that faster factors
/// span. Factors of one rank are dropped and adjacent ones merged, so that equal groups compare
/// equal. Copying allocates no memory.
class StridedRanks {
 public:
  /// Most factors that any group needs: tensor, data x context (two if a sharding group cuts it),
  /// pipeline.
  static constexpr int kMaxStridedGroupFactors = 4;

  /// Adds a factor of the product; factors may be added in any order.
  void add(StridedRankFactor extent);

  [[nodiscard]] const StridedRankFactor* begin() const { return factors_.data(); }
  [[nodiscard]] const StridedRankFactor* end() const { return factors_.data() + count_; }
  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] const StridedRankFactor& operator[](int index) const { return factors_[index]; }
  /// Returns the number of ranks in the group.
  [[nodiscard]] std::int64_t size() const;
  /// Returns the span of the group in ranks, size x stride of its slowest factor, after which the
  /// next block of such groups begins; 1 without factors.
  [[nodiscard]] std::int64_t block() const;
  /// Returns how many ranks of the group are below `limit`, if its first rank is 0.
  [[nodiscard]] std::int64_t count_ranks_below(std::int64_t limit) const;
  /// Returns the first rank of the group that contains `rank`, when groups of this shape partition
  /// all ranks.
  [[nodiscard]] std::int64_t first_rank_of_group(std::int64_t rank) const;

  auto operator<=>(const StridedRanks&) const = default;

 private:
  void merge_at(int index);

  std::array<StridedRankFactor, kMaxStridedGroupFactors> factors_{};
  int count_ = 0;
};

/// A group divided into runs of consecutive members. `inner`: one run; `outer`: the ranks with
/// equal index in all runs.
struct SplitRankGroup {
  StridedRanks inner;
  StridedRanks outer;
};

/// Divides a group into runs of `size` consecutive members; nullopt if the runs would not have one
/// common shape of strided factors (6 of 4 x 3 ranks, unless both factors can be merged).
std::optional<SplitRankGroup> cut_into_rank_runs(const StridedRanks& group, std::int64_t size);

}  // namespace stepwright::plan
