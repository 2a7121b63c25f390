#pragma once

#include <cstdint>
#include <vector>

namespace stepwright::collective {

/// Coordinates of consecutive ranks in a hierarchy. `sizes`: group size on each level, innermost
/// first, all at least 1; {8, 4} means four groups of eight ranks.
class RankHierarchy {
 public:
  explicit RankHierarchy(std::vector<std::int32_t> sizes);

  [[nodiscard]] int levels() const { return static_cast<int>(sizes_.size()); }
  [[nodiscard]] std::int32_t size(int level) const { return sizes_[index(level)]; }
  /// Returns the distance in ranks between neighbours on a level: the product of the sizes below
  /// it.
  [[nodiscard]] std::int32_t rank_stride_of_tier(int level) const { return strides_[index(level)]; }
  [[nodiscard]] std::int32_t ranks() const { return ranks_; }
  [[nodiscard]] std::int32_t at(std::int32_t rank, int level) const {
    return rank / rank_stride_of_tier(level) % size(level);
  }
  /// Returns the rank that is `by` places farther on a level, cyclically, with the same coordinates
  /// on all other levels.
  [[nodiscard]] std::int32_t rank_shifted_on_tier(std::int32_t rank, int level,
                                                  std::int32_t by) const;

 private:
  static std::size_t index(int level) { return static_cast<std::size_t>(level); }

  std::vector<std::int32_t> sizes_;
  std::vector<std::int32_t> strides_;
  std::int32_t ranks_ = 1;
};

}  // namespace stepwright::collective
