#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace stepwright::plan {

/// One factor of a group: `size` ranks, `stride` ranks apart.
struct Extent {
  std::int64_t size = 1;
  std::int64_t stride = 1;
  auto operator<=>(const Extent&) const = default;
};

/// A group of ranks as a product of strided factors, fastest first: its ranks are all sums of one
/// multiple of each stride. Factors nest: a stride is a multiple of the ranks that the factors
/// before it span. Factors of one rank are left out, and factors that continue each other are
/// merged, so equal groups compare equal. Copying does not allocate memory.
class Extents {
 public:
  /// Largest number of factors that a group needs: tensor, two of a cut data x context, pipeline.
  static constexpr int kMost = 4;

  /// Adds a factor; factors may come in any order.
  void add(Extent extent);

  [[nodiscard]] const Extent* begin() const { return factors_.data(); }
  [[nodiscard]] const Extent* end() const { return factors_.data() + count_; }
  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] const Extent& operator[](int index) const { return factors_[index]; }
  /// Number of ranks in the group.
  [[nodiscard]] std::int64_t size() const;
  /// Ranks from the start of one group to the start of the next block of groups: size x stride of
  /// the slowest factor; 1 if there is no factor.
  [[nodiscard]] std::int64_t block() const;
  /// Number of the group's ranks below `limit`, if the group begins at rank 0.
  [[nodiscard]] std::int64_t count_below(std::int64_t limit) const;
  /// First rank of the group that contains `rank`, if such groups partition all ranks.
  [[nodiscard]] std::int64_t base(std::int64_t rank) const;

  auto operator<=>(const Extents&) const = default;

 private:
  void merge_at(int index);

  std::array<Extent, kMost> factors_{};
  int count_ = 0;
};

/// A group cut into runs of consecutive members (`inner`), and the groups of members with equal
/// index in their runs (`outer`).
struct CutExtents {
  Extents inner;
  Extents outer;
};

/// Cuts a group into runs of `size` members; nullopt if the runs are not all the same product of
/// strided factors (6 of 4 x 3, if the factors do not continue each other).
std::optional<CutExtents> cut(const Extents& group, std::int64_t size);

}  // namespace stepwright::plan
