#include "stepwright/cluster/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "stepwright/core/error.h"

namespace stepwright::cluster {
namespace {

/// Blocks of size x stride ranks, each with `stride` groups. In the functions below, a position is
/// the index of a rank, or of the edge of a unit, within its block.
struct Partition {
  std::int64_t size;
  std::int64_t stride;
  std::int64_t block;  ///< Number of ranks in a block.
  std::int64_t ranks;  ///< Number of ranks in all whole blocks.

  /// Returns the number of groups with members on both sides of an edge at `position`.
  [[nodiscard]] std::int64_t across(std::int64_t position) const {
    return std::min({stride, position, block - position});
  }

  /// True if any group leaves a unit of `unit` ranks.
  [[nodiscard]] bool crosses(std::int64_t unit) const {
    return size > 1 && unit < ranks && unit % block != 0;
  }
};

/// Returns the number of groups that leave the unit of ranks [begin, end).
std::int64_t leaving(const Partition& groups, std::int64_t begin, std::int64_t end) {
  const std::int64_t from = begin % groups.block;
  const std::int64_t to = from + (end - begin);
  if (to > groups.block) return groups.across(from) + groups.across(to % groups.block);
  const std::int64_t reach = groups.block - groups.stride;  // from first to last member
  const std::int64_t present = std::min(end - begin, groups.stride);
  const std::int64_t complete = std::min(groups.stride, to - reach) - from;
  return present - std::max<std::int64_t>(0, complete);
}

/// Returns the most groups that leave one unit if the edges of units occur at every multiple of
/// `step`, the greatest common divisor of unit and block. A unit with both edges in one block gives
/// the same count at every position. Otherwise the count is the sum of two concave functions that
/// mirror each other, which is largest if the edges are placed symmetrically.
std::int64_t most_leaving(const Partition& groups, std::int64_t unit, std::int64_t step) {
  const std::int64_t rest = unit % groups.block;
  const auto middle = [step](std::int64_t length) { return length / 2 / step * step; };
  const std::int64_t over = middle(rest);  // the part of the remainder beyond the end of a block
  const std::int64_t broken = groups.across(over) + groups.across(over + groups.block - rest);
  if (unit < groups.block) return std::max(broken, groups.across(unit));
  const std::int64_t begin = middle(groups.block - rest);
  return std::max(broken, groups.across(begin) + groups.across(begin + rest));
}

/// Returns the most groups that leave one unit, for edges that occur only at some positions: looks
/// at each unit.
std::int64_t most_leaving_listed(const Partition& groups, std::int64_t unit, std::int64_t bound) {
  std::int64_t most = 0;
  for (std::int64_t begin = 0; begin < groups.ranks && most < bound; begin += unit) {
    const std::int64_t end = std::min(begin + unit, groups.ranks);
    most = std::max(most, leaving(groups, begin, end));
  }
  return most;
}

/// Returns the most groups that leave one unit of `unit` ranks.
std::int64_t sharers_of(const Partition& groups, std::int64_t unit) {
  if (groups.block % unit == 0) return groups.across(unit);
  const std::int64_t step = std::gcd(unit, groups.block);
  const std::int64_t most = most_leaving(groups, unit, step);
  const bool all_positions = groups.ranks / unit >= groups.block / step;
  return all_positions ? most : most_leaving_listed(groups, unit, most);
}

Partition partition(const Cluster& cluster, std::int64_t size, std::int64_t stride) {
  const std::int64_t devices = cluster.devices();
  if (size < 1 || stride < 1 || (size > 1 && stride > devices / size)) {
    fail_input(fmt::format("a group of {} ranks at stride {} does not fit a cluster of {} devices",
                           size, stride, devices));
  }
  if (size == 1) stride = 1;
  const std::int64_t block = size * stride;
  return {size, stride, block, devices / block * block};
}

}  // namespace

GroupLayout network_layout_of_strided_group(const Cluster& cluster, std::int64_t size,
                                            std::int64_t stride) {
  const Partition groups = partition(cluster, size, stride);
  GroupLayout layout;
  layout.size = size;
  layout.levels = std::min(static_cast<int>(cluster.levels.size()), kMaxLevels);
  std::int64_t lower = 1;
  for (int i = 0; i < layout.levels; ++i) {
    const std::int64_t unit = cluster.levels[i].size;
    layout.members[i] = std::min(size, (unit + groups.stride - 1) / groups.stride);
    if (groups.crosses(lower)) {
      layout.sharers[i] = sharers_of(groups, lower);
      layout.span = i;
    }
    lower = unit;
  }
  return layout;
}

}  // namespace stepwright::cluster
