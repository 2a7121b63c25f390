#pragma once

#include <cstdint>
#include <vector>

namespace stepwright::collective {

/// Ranks 0, 1, ... as mixed-radix numbers: `sizes` of the tiers, innermost first, so that {8, 4} is
/// four groups of eight consecutive ranks. There is at least one tier, and sizes are at least 1.
class Tiers {
 public:
  explicit Tiers(std::vector<std::int32_t> sizes);

  [[nodiscard]] int levels() const { return static_cast<int>(sizes_.size()); }
  [[nodiscard]] std::int32_t size(int level) const { return sizes_[index(level)]; }
  /// Number of consecutive ranks that share the coordinates from `level` on.
  [[nodiscard]] std::int32_t stride(int level) const { return strides_[index(level)]; }
  [[nodiscard]] std::int32_t ranks() const { return ranks_; }
  [[nodiscard]] std::int32_t at(std::int32_t rank, int level) const {
    return rank / stride(level) % size(level);
  }
  /// The rank whose coordinate at `level` is larger by `by`, cyclically in the tier.
  [[nodiscard]] std::int32_t moved(std::int32_t rank, int level, std::int32_t by) const;

 private:
  static std::size_t index(int level) { return static_cast<std::size_t>(level); }

  std::vector<std::int32_t> sizes_;
  std::vector<std::int32_t> strides_;
  std::int32_t ranks_ = 1;
};

}  // namespace stepwright::collective
