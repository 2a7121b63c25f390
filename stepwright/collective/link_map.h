#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "stepwright/cluster/cluster.h"

namespace stepwright::collective {

/// The links that a message between two devices passes, as ids in a `LinkMap`, with its latency:
/// that of the outermost network level crossed.
struct LinkPath {
  std::array<std::int32_t, 2 * cluster::kMaxLevels + 2> links{};
  std::int32_t count = 0;
  double latency_s = 0;
};

/// Links of a cluster, one for each direction: uplinks of devices, nodes and larger units (in a
/// mesh, one link for each pair of units), and NICs (`Cluster::nic_of_device`; a single device with
/// several NICs has the rate of all). Messages inside a node use the levels inside it, messages
/// between nodes the NICs and the levels outside.
class LinkMap {
 public:
  /// kEach: each node has links of its own. kOneForAll: all nodes share the links of one node,
  /// which then stand for those of every node; a message to another node arrives over the same
  /// links.
  enum class NodeLinkSharing : std::uint8_t { kEach, kOneForAll };

  /// `full_duplex`: true if each direction of a link has the full rate; false: both directions
  /// share it.
  LinkMap(const cluster::Cluster& cluster, bool full_duplex,
          NodeLinkSharing nodes = NodeLinkSharing::kEach);

  /// Returns the links that a message between two devices passes; adds those to the map that are
  /// not yet in it.
  LinkPath links_between_devices(std::int64_t from, std::int64_t to);
  [[nodiscard]] double bytes_per_s(std::int32_t link) const {
    return rates_[static_cast<std::size_t>(link)];
  }
  [[nodiscard]] std::size_t size() const { return rates_.size(); }

 private:
  enum class Side : std::uint8_t { kOut, kIn };
  /// Identifies a link: its network level (the number of levels stands for NICs), its unit, the
  /// other unit in a mesh (else -1), and its direction.
  struct LinkKey {
    std::int32_t level;
    std::int64_t unit;
    std::int64_t other;
    Side side;
    auto operator<=>(const LinkKey&) const = default;
  };

  /// Returns the unit (or NIC) whose links are used for `unit`: with kOneForAll, its counterpart in
  /// the first node. `in_node`: number of units in a node.
  [[nodiscard]] std::int64_t unit_with_representative_links(std::int64_t unit,
                                                            std::int64_t in_node) const {
    return nodes_ == NodeLinkSharing::kOneForAll ? unit % in_node : unit;
  }
  void add(LinkPath& path, LinkKey key, double rate);
  void add_level(LinkPath& path, std::size_t level, std::int64_t from, std::int64_t to);
  void add_nics(LinkPath& path, std::int64_t from, std::int64_t to);

  const cluster::Cluster& cluster_;
  bool full_duplex_;
  NodeLinkSharing nodes_;
  std::size_t node_levels_;
  std::map<LinkKey, std::int32_t> ids_;
  std::vector<double> rates_;
};

}  // namespace stepwright::collective
