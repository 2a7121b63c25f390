#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

namespace stepwright {

/// The smallest of a fixed number of times that change one at a time: a tournament tree. Ties go to
/// the lowest index.
class Earliest {
 public:
  explicit Earliest(std::int32_t count)
      : size_(std::bit_ceil(static_cast<std::size_t>(count))),
        times_(size_, std::numeric_limits<double>::infinity()),
        winner_(2 * size_) {
    for (std::size_t i = 0; i < size_; ++i) winner_[size_ + i] = static_cast<std::int32_t>(i);
    for (std::size_t node = size_ - 1; node > 0; --node) winner_[node] = winner_[2 * node];
  }

  void set(std::int32_t index, double time) {
    if (times_[index] == time) return;
    times_[index] = time;
    for (std::size_t node = (size_ + index) / 2; node > 0; node /= 2) {
      const std::int32_t left = winner_[2 * node];
      const std::int32_t right = winner_[2 * node + 1];
      const std::int32_t won = times_[right] < times_[left] ? right : left;
      // Above a match that another keeps winning nothing changes.
      if (won == winner_[node] && won != index) return;
      winner_[node] = won;
    }
  }

  [[nodiscard]] std::int32_t index() const { return winner_[1]; }
  [[nodiscard]] double time() const { return times_[winner_[1]]; }

 private:
  std::size_t size_;
  std::vector<double> times_;
  std::vector<std::int32_t> winner_;  ///< Of the match at each node; node 1 is the final.
};

}  // namespace stepwright
