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

/// One entry of `network:` in a cluster file.
struct NetworkLevel {
  std::string name;
  std::int64_t nodes = 0;  ///< Nodes in one unit; 0: all nodes (the outermost level).
  double oversubscription = 1;
  double latency_s = 0;
};

/// A cluster as its mappings state it, before other values are derived. Zero or empty: not stated.
struct ClusterDescription {
  std::string name;
  Device device;
  std::int64_t nodes = 0;
  std::int64_t devices = 0;  ///< Number of devices, which may be given instead of `nodes`.
  std::int64_t devices_per_node = 0;
  std::int64_t nics_per_node = 0;
  double nic_bytes_per_s = 0;
  std::vector<std::int64_t> nic_of_device;
  std::vector<FabricLevel> levels;  ///< Levels inside a node.
  std::vector<NetworkLevel> network;
  Host host;
  double all_reduce_bytes_per_s = 0;
  std::string fit = "unfitted";
};

/// The most devices, and the most NICs, of one node.
inline constexpr std::int64_t kMaxDevicesPerNode = 65536;

/// Default latency of one message in seconds, not fitted to measurements: inside a node, and over
/// network level `index` (from 0), where each level adds one switch on the way up and one on the
/// way down.
inline constexpr double kNodeLatency = 2.5e-6;
constexpr double network_latency(std::size_t index) {
  return 5e-6 + 1e-6 * static_cast<double>(index);
}

/// Returns the kind of links of a level that does not state it: NVLink if its name says so.
constexpr LinkTechnology link_technology_by_name(std::string_view level) {
  return level == "nvlink" ? LinkTechnology::kNvlink : LinkTechnology::kOther;
}

/// Returns the default NIC of each device: contiguous blocks of devices share one NIC.
std::vector<std::int64_t> default_nics(std::int64_t devices, std::int64_t nics);

/// Reads `device:` (the name of a built-in device or a mapping) into `device`; values already in it
/// are kept unless the mapping has them.
void read_device(Node node, Device& device);

/// Reads a `cluster:` mapping: first the values of its profile, then its own keys, which override
/// them.
ClusterDescription read_description(Node node, const std::filesystem::path& directory);

/// Reduces a node to fewer devices, together with its levels, NICs and host.
void limit_devices_per_node(ClusterDescription& cluster, std::int64_t devices);

/// Checks a description and derives the remaining values. Errors point at `node`, the mapping that
/// was read.
Cluster complete(ClusterDescription description, Node node);

}  // namespace stepwright::cluster
