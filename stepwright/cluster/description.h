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

/// One entry of `network:`.
struct NetworkLevel {
  std::string name;
  std::int64_t nodes = 0;  ///< Nodes of one unit; 0: all, the outermost.
  double oversubscription = 1;
  double latency_s = 0;
};

/// A cluster as its mappings state it, before anything is derived. Zero or empty: not stated.
struct ClusterDescription {
  std::string name;
  Device device;
  std::int64_t nodes = 0;
  std::int64_t devices = 0;  ///< Number of devices, instead of `nodes`.
  std::int64_t devices_per_node = 0;
  std::int64_t nics_per_node = 0;
  double nic_bytes_per_s = 0;
  std::vector<std::int64_t> nic_of_device;
  std::vector<Level> levels;  ///< Levels inside a node.
  std::vector<NetworkLevel> network;
  Host host;
  double all_reduce_bytes_per_s = 0;
  std::string fit = "unfitted";
};

/// Most devices, and most NICs, of one node.
inline constexpr std::int64_t kMaxPerNode = 65536;

/// Default seconds of one message, unfitted: inside a node, and over the network level `index`
/// (from 0), as each level adds a switch on the way up and one on the way down.
inline constexpr double kNodeLatency = 2.5e-6;
constexpr double network_latency(std::size_t index) {
  return 5e-6 + 1e-6 * static_cast<double>(index);
}

/// The links of a level that does not say: NVLink's where it is called so.
constexpr Links links_by_name(std::string_view level) {
  return level == "nvlink" ? Links::kNvlink : Links::kOther;
}

/// The NIC of each device when nothing is said: contiguous blocks of devices share one.
std::vector<std::int64_t> default_nics(std::int64_t devices, std::int64_t nics);

/// Reads `device:`, the name of a built-in or a mapping, over what is already in `device`.
void read_device(Node node, Device& device);

/// Reads a `cluster:` mapping: first what its profile states, then its own keys.
ClusterDescription read_description(Node node, const std::filesystem::path& directory);

/// Cuts a node down to fewer devices than it has, with its levels, NICs and host.
void cut_node(ClusterDescription& cluster, std::int64_t devices);

/// Checks a description and derives the rest. Messages point at `node`, the mapping it came from.
Cluster complete(ClusterDescription description, Node node);

}  // namespace stepwright::cluster
