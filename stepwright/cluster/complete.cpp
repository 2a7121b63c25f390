#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stepwright/cluster/description.h"
#include "stepwright/core/divide_up.h"

namespace stepwright::cluster {
namespace {

/// Returns the node of a key, for errors; if the value came from a profile, that of the whole
/// cluster.
DocumentNode place_of(DocumentNode node, std::string_view key) {
  return node.is_mapping() ? node.find(key).value_or(node) : node;
}

void count_nodes(ClusterDescription& cluster, DocumentNode node) {
  if (cluster.nodes == 0 && cluster.devices == 0) {
    node.fail("the key 'nodes' is missing (or 'devices', a number of devices)");
  }
  const std::int64_t per_node = cluster.devices_per_node;
  if (cluster.nodes > kMaxClusterDevices / per_node) {
    place_of(node, "nodes")
        .fail(fmt::format("{} nodes of {} devices; at most {} devices are "
                          "allowed",
                          cluster.nodes, per_node, kMaxClusterDevices));
  }
  if (cluster.nodes > 0) return;
  cluster.nodes = std::max<std::int64_t>(1, cluster.devices / per_node);
  if (cluster.devices < per_node) return limit_devices_per_node(cluster, cluster.devices);
  if (cluster.devices % per_node == 0) return;
  const std::int64_t whole = cluster.nodes * per_node;
  place_of(node, "devices")
      .fail(fmt::format(
          "{} devices do not fill nodes of {}; {} or {} would (or fewer than {}: part of one node)",
          cluster.devices, per_node, whole, whole + per_node, per_node));
}

/// Checks the levels inside a node: each joins units of the level below, and the last joins the
/// whole node.
void check_node_levels(const ClusterDescription& cluster, DocumentNode node) {
  const std::int64_t devices = cluster.devices_per_node;
  const bool needed = cluster.levels.empty() && devices > 1;
  const DocumentNode place = needed ? node.get("levels") : place_of(node, "levels");
  std::int64_t lower = 1;
  for (const NetworkLevel& level : cluster.levels) {
    // A single node may end in an incomplete unit: three devices, two of which form a pair.
    const bool whole = level.size % lower == 0 || (level.size == devices && cluster.nodes == 1);
    if (level.size <= lower || !whole) {
      place.fail(
          fmt::format("levels must nest: '{}' joins {} devices, which must be a multiple "
                      "of the {} joined below it, and more",
                      level.name, level.size, lower));
    }
    lower = level.size;
  }
  if (lower != devices) {
    place.fail(fmt::format("the last level inside a node must join all its {} devices; it joins {}",
                           devices, lower));
  }
}

void check_network(const ClusterDescription& cluster, DocumentNode node) {
  const DocumentNode place = place_of(node, "network");
  if (cluster.nic_bytes_per_s == 0) {
    if (cluster.nodes > 1 || !cluster.network.empty()) static_cast<void>(node.get("nic"));
    return;
  }
  std::int64_t lower = 1;
  for (const NetworkLevelDescription& level : cluster.network) {
    const bool last = &level == &cluster.network.back();
    if (last != (level.nodes == 0)) {
      place.fail(
          fmt::format("network level '{}' must {} 'nodes': the last level spans all nodes, the "
                      "others state how many nodes they join",
                      level.name, last ? "not state" : "state"));
    }
    if (last) break;
    if (level.nodes <= lower || level.nodes % lower != 0) {
      place.fail(
          fmt::format("levels must nest: '{}' joins {} nodes, which must be a multiple of "
                      "the {} joined below it, and more",
                      level.name, level.nodes, lower));
    }
    if (level.nodes > kMaxClusterDevices / cluster.devices_per_node) {
      place.fail(fmt::format(
          "network level '{}' joins {} nodes of {} devices; at most {} devices are allowed",
          level.name, level.nodes, cluster.devices_per_node, kMaxClusterDevices));
    }
    lower = level.nodes;
  }
}

void check_nics(const ClusterDescription& cluster, DocumentNode node) {
  const DocumentNode place = place_of(node, "nic_of_device");
  const auto& nics = cluster.nic_of_device;
  if (!nics.empty() && std::ssize(nics) != cluster.devices_per_node) {
    place.fail(
        fmt::format("nic_of_device names {} NICs; it must name one for each of the {} devices",
                    nics.size(), cluster.devices_per_node));
  }
  for (const std::int64_t nic : nics) {
    if (nic < cluster.nics_per_node) continue;
    place.fail(fmt::format("nic_of_device names NIC {}; a node has {}, counted from 0", nic,
                           cluster.nics_per_node));
  }
}

/// Appends the network to the levels of a node.
void add_network(Cluster& cluster, const std::vector<NetworkLevelDescription>& network) {
  std::int64_t lower = cluster.devices_per_node;
  for (const NetworkLevelDescription& stated : network) {
    const std::int64_t nics = lower / cluster.devices_per_node * cluster.nics_per_node;
    const std::int64_t all = std::max(cluster.devices(), lower);
    NetworkLevel& level = cluster.levels.emplace_back();
    level.name = stated.name;
    level.size = stated.nodes == 0 ? all : stated.nodes * cluster.devices_per_node;
    level.uplink_bytes_per_s =
        static_cast<double>(nics) * cluster.nic_bytes_per_s / stated.oversubscription;
    level.latency_s = stated.latency_s;
    level.network = true;
    level.oversubscription = stated.oversubscription;
    lower = level.size;
  }
}

}  // namespace

void limit_devices_per_node(ClusterDescription& cluster, std::int64_t devices) {
  const std::int64_t nics = cluster.nics_per_node * devices / cluster.devices_per_node;
  cluster.nics_per_node = std::max<std::int64_t>(1, nics);
  const double left_of_host =
      static_cast<double>(devices) / static_cast<double>(cluster.devices_per_node);
  cluster.host.memory_bytes *= left_of_host;
  cluster.host.memory_bandwidth_bytes_per_s *= left_of_host;
  cluster.nic_of_device.clear();
  cluster.devices_per_node = devices;
  std::vector<NetworkLevel> left;
  for (NetworkLevel& level : cluster.levels) {
    if (level.mesh && level.size > devices) {  // the links to the removed devices are removed too
      const std::int64_t lower = left.empty() ? 1 : left.back().size;
      const std::int64_t peers = level.size / lower - 1;
      const std::int64_t left_peers = ceil_divide(devices, lower) - 1;
      level.uplink_bytes_per_s *= static_cast<double>(left_peers) / static_cast<double>(peers);
    }
    level.size = std::min(level.size, devices);
    if (level.size > (left.empty() ? 1 : left.back().size)) left.push_back(level);
  }
  cluster.levels = std::move(left);
}

std::vector<std::int64_t> default_nic_of_devices(std::int64_t devices, std::int64_t nics) {
  std::vector<std::int64_t> nic_of_device(static_cast<std::size_t>(devices));
  for (std::int64_t i = 0; i < devices; ++i) nic_of_device[i] = i * nics / devices;
  return nic_of_device;
}

Cluster complete_cluster_description(ClusterDescription description, DocumentNode node) {
  if (description.nics_per_node == 0) description.nics_per_node = 1;
  if (description.network.empty() && description.nic_bytes_per_s > 0) {
    description.network.push_back({.name = "network", .latency_s = network_latency(0)});
  }
  check_nics(description, node);
  count_nodes(description, node);
  check_node_levels(description, node);
  check_network(description, node);
  if (description.levels.size() + description.network.size() > std::size_t{kMaxLevels}) {
    node.fail(
        fmt::format("{} levels inside a node and {} of network; at most {} in all are allowed",
                    description.levels.size(), description.network.size(), kMaxLevels));
  }
  if (description.nic_of_device.empty()) {
    description.nic_of_device =
        default_nic_of_devices(description.devices_per_node, description.nics_per_node);
  }
  Cluster cluster{.name = description.name,
                  .device = description.device,
                  .nodes = description.nodes,
                  .devices_per_node = description.devices_per_node,
                  .nics_per_node = description.nics_per_node,
                  .nic_bytes_per_s = description.nic_bytes_per_s,
                  .nic_of_device = description.nic_of_device,
                  .levels = description.levels,
                  .host = description.host,
                  .all_reduce_bytes_per_s = description.all_reduce_bytes_per_s,
                  .fit = description.fit};
  add_network(cluster, description.network);
  return cluster;
}

}  // namespace stepwright::cluster
