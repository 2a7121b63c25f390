#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace stepwright::plan {

/// One factor of a group: `size` ranks at `stride`.
struct Extent {
  std::int64_t size = 1;
  std::int64_t stride = 1;
  auto operator<=>(const Extent&) const = default;
};

/// Ranks as a product of strided factors, fastest first: all sums of one multiple of each stride.
/// Factors nest (a stride is a multiple of everything the factors before it span), factors of one
/// rank are left out and factors that continue each other are merged, so equal sets are equal. A
/// value without allocation.
class Extents {
 public:
  /// Most factors that are ever needed: tensor, two of a cut data x context, pipeline.
  static constexpr int kMost = 4;

  /// Adds a factor; factors may come in any order.
  void add(Extent extent);

  [[nodiscard]] const Extent* begin() const { return factors_.data(); }
  [[nodiscard]] const Extent* end() const { return factors_.data() + count_; }
  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] const Extent& operator[](int index) const { return factors_[index]; }
  /// Ranks of the product.
  [[nodiscard]] std::int64_t size() const;
  /// Ranks from the start of one group to where the next block of groups begins: size x stride of
  /// the slowest factor; 1 when there is none.
  [[nodiscard]] std::int64_t block() const;
  /// How many of the ranks lie below `limit` when the group begins at rank 0.
  [[nodiscard]] std::int64_t count_below(std::int64_t limit) const;
  /// The first rank of the group that holds `rank`, if such groups partition all ranks.
  [[nodiscard]] std::int64_t base(std::int64_t rank) const;

  auto operator<=>(const Extents&) const = default;

 private:
  void merge_at(int index);

  std::array<Extent, kMost> factors_{};
  int count_ = 0;
};

/// A group cut into runs of consecutive members, and the members at equal positions of these runs.
struct CutExtents {
  Extents inner;
  Extents outer;
};

/// Cuts a group into runs of `size` members; nothing when the runs are no product of strided
/// factors alike in all of them (6 of 4 x 3 where the factors do not continue each other).
std::optional<CutExtents> cut(const Extents& group, std::int64_t size);

}  // namespace stepwright::plan
