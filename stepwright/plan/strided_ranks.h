#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace stepwright::plan {

/// A run of `size` ranks at equal distance: each is `stride` ranks after the one before. Nested
/// runs describe a group of ranks (`StridedRanks`).
struct StridedRankFactor {
  std::int64_t size = 1;
  std::int64_t stride = 1;
  auto operator<=>(const StridedRankFactor&) const = default;
};

/// A group of ranks as nested runs at equal distances (factors), innermost first: each member is
/// the first rank plus a multiple of every run's stride. Each stride is a multiple of the ranks
/// that inner runs span. Runs of one rank are dropped and adjacent ones merged, so that equal
/// groups compare equal. Copying allocates no memory.
class StridedRanks {
 public:
  /// Most nested runs (factors) that describe a group of a plan's ranks: one each for tensor and
  /// pipeline, two for data x context if a sharding group cuts it.
  static constexpr int kMaxStridedGroupFactors = 4;

  /// Adds a nested run of ranks to the group, which then has `extent.size` times as many ranks;
  /// runs may be added in any order.
  void add(StridedRankFactor extent);

  [[nodiscard]] const StridedRankFactor* begin() const { return factors_.data(); }
  [[nodiscard]] const StridedRankFactor* end() const { return factors_.data() + count_; }
  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] const StridedRankFactor& operator[](int index) const { return factors_[index]; }
  /// Returns the number of ranks in the group.
  [[nodiscard]] std::int64_t size() const;
  /// Returns the span of the group in ranks: size x stride of its outermost run, after which the
  /// next block of such groups begins; 1 if the group has one rank.
  [[nodiscard]] std::int64_t block() const;
  /// Returns how many ranks of a group of this shape are below `limit`, if its first rank is 0.
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

/// A group of ranks divided into equal parts of consecutive members. `inner`: shape of one part;
/// `outer`: the ranks with equal index in all parts.
struct SplitRankGroup {
  StridedRanks inner;
  StridedRanks outer;
};

/// Divides a group of ranks into parts of `size` consecutive members; nullopt if the parts would
/// not have one common shape of nested runs (6 of 4 x 3 ranks, unless both runs can be merged).
std::optional<SplitRankGroup> cut_into_rank_runs(const StridedRanks& group, std::int64_t size);

}  // namespace stepwright::plan
