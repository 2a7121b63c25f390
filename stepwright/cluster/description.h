#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/cluster/cluster.h"
#include "stepwright/core/document.h"

namespace stepwright::cluster {

/// One level of the network between nodes, as an entry of `network:` in a cluster file states it.
struct NetworkLevelDescription {
  std::string name;
  /// Number of nodes in one unit of the level; 0: all nodes (the outermost level).
  std::int64_t nodes = 0;
  double oversubscription = 1;
  double latency_s = 0;
};

/// A cluster as its file states it, before missing values are derived; zero or empty: not stated.
struct ClusterDescription {
  std::string name;
  DeviceModel device;
  std::int64_t nodes = 0;
  /// Total number of devices, which a file may state instead of `nodes`; 0: not stated.
  std::int64_t devices = 0;
  std::int64_t devices_per_node = 0;
  std::int64_t nics_per_node = 0;
  double nic_bytes_per_s = 0;
  std::vector<std::int64_t> nic_of_device;
  std::vector<NetworkLevel> levels;  ///< Levels of links inside a node, innermost first.
  std::vector<NetworkLevelDescription> network;
  HostHardware host;
  double all_reduce_bytes_per_s = 0;
  std::string fit = "unfitted";
};

/// Upper limit for the number of devices, and of NICs, of one node.
inline constexpr std::int64_t kMaxDevicesPerNode = 65536;

/// Default latency in seconds of one message inside a node. Not fitted to measurements.
inline constexpr double kDefaultIntraNodeLatency = 2.5e-6;
/// Default latency in seconds over network level `index` from 0; each level adds two switches.
constexpr double network_latency(std::size_t index) {
  return 5e-6 + 1e-6 * static_cast<double>(index);
}

/// Returns the technology of the links of a level that does not state it, from the level's name.
constexpr LinkTechnology link_technology_of_level(std::string_view level) {
  return level == "nvlink" ? LinkTechnology::kNvlink : LinkTechnology::kOther;
}

/// Returns the index of each device's NIC if a cluster does not state it: contiguous blocks of
/// devices share one NIC.
std::vector<std::int64_t> default_nic_of_devices(std::int64_t devices, std::int64_t nics);

/// Reads the key `device:` (the name of a built-in device or a mapping) into `device`; values that
/// the mapping lacks keep what `device` had.
void read_device(DocumentNode node, DeviceModel& device);

/// Reads a `cluster:` mapping: first the values of the profile that it names, then its own keys,
/// which override them.
ClusterDescription read_cluster_description(DocumentNode node,
                                            const std::filesystem::path& directory);

/// Reduces the number of devices of each node to `devices`, and adapts network levels, NICs and
/// host memory.
void limit_devices_per_node(ClusterDescription& cluster, std::int64_t devices);

/// Turns a cluster's description into the cluster: checks it and derives the missing values. Errors
/// point at `node`, the mapping that was read.
Cluster complete_cluster_description(ClusterDescription description, DocumentNode node);

}  // namespace stepwright::cluster
