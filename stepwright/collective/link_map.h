#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "stepwright/cluster/cluster.h"

namespace stepwright::collective {

/// The links that a message between two devices passes: ids of links in a `LinkMap`, and the
/// latency of the outermost level that it crosses.
struct LinkPath {
  std::array<std::int32_t, 2 * cluster::kMaxLevels + 2> links{};
  std::int32_t count = 0;
  double latency_s = 0;
};

/// The links of a cluster, one for each direction: the uplinks of the units that its levels join
/// (in a mesh, one link for each pair of units), and the NICs (`Cluster::nic_of_device`; a single
/// device with several NICs has the rate of all). Messages inside a node use the levels inside it,
/// messages between nodes the NICs and the levels outside.
class LinkMap {
 public:
  /// kEach: each node has links of its own. kOneForAll: one node's links represent those of every
  /// node, so a message to another node arrives over the same node's links.
  enum class Nodes : std::uint8_t { kEach, kOneForAll };

  /// `full_duplex`: each direction has the full rate; false: both directions of a link share it.
  LinkMap(const cluster::Cluster& cluster, bool full_duplex, Nodes nodes = Nodes::kEach);

  /// Returns the links between two devices, creating those that do not exist yet.
  LinkPath path(std::int64_t from, std::int64_t to);
  [[nodiscard]] double bytes_per_s(std::int32_t link) const {
    return rates_[static_cast<std::size_t>(link)];
  }
  [[nodiscard]] std::size_t size() const { return rates_.size(); }

 private:
  enum class Side : std::uint8_t { kOut, kIn };
  /// Identifies a link: its level (the number of levels means NICs), its unit, the other unit in a
  /// mesh (else -1), and its direction.
  struct Key {
    std::int32_t level;
    std::int64_t unit;
    std::int64_t other;
    Side side;
    auto operator<=>(const Key&) const = default;
  };

  /// Returns the unit (or NIC) that represents `unit`; `in_node`: units in a node.
  [[nodiscard]] std::int64_t standing_for(std::int64_t unit, std::int64_t in_node) const {
    return nodes_ == Nodes::kOneForAll ? unit % in_node : unit;
  }
  void add(LinkPath& path, Key key, double rate);
  void add_level(LinkPath& path, std::size_t level, std::int64_t from, std::int64_t to);
  void add_nics(LinkPath& path, std::int64_t from, std::int64_t to);

  const cluster::Cluster& cluster_;
  bool full_duplex_;
  Nodes nodes_;
  std::size_t node_levels_;
  std::map<Key, std::int32_t> ids_;
  std::vector<double> rates_;
};

}  // namespace stepwright::collective
