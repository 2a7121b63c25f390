#include "stepwright/collective/wire.h"

#include <algorithm>

#include "stepwright/collective/definition.h"

namespace stepwright::collective {
namespace {

/// Number of times that the buffer passes through the group: an all-reduce is a reduce-scatter and
/// an all-gather.
double passes(CollectiveOperation collective) {
  return collective == CollectiveOperation::kAllReduce ? 2 : 1;
}

double share_of_others(std::int64_t size) {
  return static_cast<double>(size - 1) / static_cast<double>(size);
}

/// Number of members in one of the units that level `level` joins.
std::int64_t members_below(const cluster::GroupLayout& layout, int level) {
  return level == 0 ? 1 : layout.members[level - 1];
}

/// Number of units of `members` members over which the group extends.
std::int64_t units(const cluster::GroupLayout& layout, std::int64_t members) {
  return (layout.size + members - 1) / members;
}

/// Adds a ring over the units that level `first` joins, up to the group's span. The last block to
/// arrive has passed every hop but one; the slowest of the blocks has saved an innermost hop.
void add_ring(LevelLoads& loads, CollectiveOperation collective, double payload_bytes,
              const cluster::GroupLayout& layout, int first) {
  const std::int64_t places = units(layout, members_below(layout, first));
  const double stream = bytes_sent_by_each_rank(collective, payload_bytes, places);
  std::int64_t spared = 1;
  for (int i = first; i <= layout.span; ++i) {
    const std::int64_t farther = i < layout.span ? units(layout, layout.members[i]) : 0;
    const std::int64_t hops = units(layout, members_below(layout, i)) - farther - spared;
    if (hops >= 0) spared = 0;
    loads[i] = {stream, passes(collective) * static_cast<double>(std::max<std::int64_t>(0, hops))};
  }
}

/// Returns the layout of the part of a group that is in one node.
cluster::GroupLayout part_in_node(const cluster::GroupLayout& layout, int node_levels) {
  cluster::GroupLayout part = layout;
  part.size = group_members_per_node(layout, node_levels);
  part.span = -1;
  for (int i = 0; i < node_levels; ++i) {
    if (members_below(layout, i) < part.size) part.span = i;
  }
  return part;
}

LevelLoads two_level_loads(CollectiveOperation collective, double payload_bytes,
                           const cluster::GroupLayout& layout, int node_levels) {
  LevelLoads loads{};
  add_ring(loads, collective, payload_bytes, part_in_node(layout, node_levels), 0);
  // Each rail carries its part of the buffer; together they leave a node.
  add_ring(loads, collective, payload_bytes, layout, node_levels);
  return loads;
}

LevelLoads ring_loads(CollectiveOperation collective, double payload_bytes,
                      const cluster::GroupLayout& layout) {
  LevelLoads loads{};
  add_ring(loads, collective, payload_bytes, layout, 0);
  return loads;
}

LevelLoads exchange_loads(double payload_bytes, const cluster::GroupLayout& layout) {
  LevelLoads loads{};
  const double per_peer = payload_bytes / static_cast<double>(layout.size);
  for (int i = 0; i <= layout.span; ++i) {
    const std::int64_t lower = members_below(layout, i);
    const double outside = static_cast<double>(layout.size - lower);
    loads[i] = {static_cast<double>(lower) * outside * per_peer,
                static_cast<double>(layout.members[i] - lower)};
  }
  return loads;
}

LevelLoads neighbour_loads(double payload_bytes, const cluster::GroupLayout& layout) {
  LevelLoads loads{};
  for (int i = 0; i <= layout.span; ++i) loads[i].bytes = payload_bytes;
  loads[layout.span].messages = 1;
  return loads;
}

}  // namespace

double bytes_sent_by_each_rank(CollectiveOperation collective, double payload_bytes,
                               std::int64_t size) {
  if (size <= 1) return 0;
  if (collective == CollectiveOperation::kPointToPoint) return payload_bytes;
  return passes(collective) * share_of_others(size) * payload_bytes;
}

double bytes_sent_by_each_rank(CollectiveAlgorithm algorithm, CollectiveOperation collective,
                               double payload_bytes, const GroupNodeLayout& form) {
  const auto sent = definition_of(algorithm).sent;
  if (sent == nullptr) return bytes_sent_by_each_rank(collective, payload_bytes, form.ranks);
  return sent(payload_bytes, static_cast<double>(form.members), static_cast<double>(form.nodes));
}

int intra_node_level_count(const cluster::Cluster& cluster) {
  int levels = 0;
  for (const cluster::NetworkLevel& level : cluster.levels) {
    if (level.size <= cluster.devices_per_node) ++levels;
  }
  return levels;
}

std::int64_t group_members_per_node(const cluster::GroupLayout& layout, int node_levels) {
  return std::max<std::int64_t>(1, members_below(layout, std::min(node_levels, layout.levels)));
}

std::int64_t group_node_count(const cluster::GroupLayout& layout, int node_levels) {
  return units(layout, group_members_per_node(layout, node_levels));
}

LevelLoads network_level_loads(CollectiveOperation collective, CollectiveAlgorithm algorithm,
                               double payload_bytes, const cluster::GroupLayout& layout,
                               int node_levels) {
  if (layout.span < 0) return {};
  switch (collective) {
    case CollectiveOperation::kAllToAll: return exchange_loads(payload_bytes, layout);
    case CollectiveOperation::kPointToPoint: return neighbour_loads(payload_bytes, layout);
    default: break;
  }
  const bool one_level = group_members_per_node(layout, node_levels) == 1 ||
                         group_node_count(layout, node_levels) == 1;
  const MessagePattern pattern = definition_of(algorithm).pattern;
  const bool by_levels =
      pattern == MessagePattern::kLevelsInTurn || pattern == MessagePattern::kLevelsAtOnce;
  if (!by_levels || one_level) return ring_loads(collective, payload_bytes, layout);
  return two_level_loads(collective, payload_bytes, layout, node_levels);
}

GroupNodeLayout group_node_layout(const cluster::GroupLayout& layout, int node_levels,
                                  bool inside_adds) {
  return {.ranks = layout.size,
          .members = group_members_per_node(layout, node_levels),
          .nodes = group_node_count(layout, node_levels),
          .inside_adds = inside_adds};
}

}  // namespace stepwright::collective
