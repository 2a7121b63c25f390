#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/core/dtype.h"
#include "stepwright/core/named.h"

namespace stepwright::cluster {

struct Generation;

/// One kind of accelerator. Rates are peaks per device; bandwidths are per direction.
struct Device {
  std::string name;
  std::map<DType, double> peak_flops;  ///< Dense FLOP/s by input precision.
  /// Bytes that a process can allocate, not the label on the box.
  double memory_bytes = 0;
  double memory_bandwidth_bytes_per_s = 0;
  /// Bandwidth to the memory of its host, each way; 0: not stated.
  double host_link_bytes_per_s = 0;
  /// Generation, if stated (`generation_of`, cluster/generation.h).
  const Generation* generation = nullptr;
  /// A board of its generation that no published run used: of other power, memory or links.
  bool variant = false;
  /// Limit of the board's power, W, where it is not that of its generation's best-known board.
  double board_power_w = 0;

  bool operator==(const Device&) const = default;
};

/// The kind of a level's links, as far as it matters: NVLink's switches add from Hopper on.
enum class Links : std::uint8_t { kOther, kNvlink };
inline constexpr Named<Links> kLinksNames[] = {{Links::kOther, "other"},
                                               {Links::kNvlink, "nvlink"}};

/// One level of the fabric, from the innermost outwards. It joins units of the level below (single
/// devices for the first) into units of `size` devices. Whatever leaves a lower unit shares
/// `uplink_bytes_per_s`, whether it stays within the level's unit or travels on.
struct Level {
  std::string name;               ///< Any; nvlink, pcie, network, leaf, spine, ...
  std::int64_t size = 1;          ///< Devices of one unit; may exceed the cluster's.
  double uplink_bytes_per_s = 0;  ///< Per direction, of one unit of the level below.
  double latency_s = 0;           ///< One message over this level.
  /// Between nodes. The uplink then follows from the NICs: line rate of all NICs of the lower unit
  /// over `oversubscription`.
  bool network = false;
  double oversubscription = 1;
  /// Inside a node: no switch, each lower unit is joined to each other one of its unit by an equal
  /// part of its uplink, so that groups of a few units have only the links among them.
  bool mesh = false;
  Links links = Links::kOther;

  bool operator==(const Level&) const = default;
};

/// The host of a node: what offloading asks for. 0: not stated.
struct Host {
  double memory_bytes = 0;
  double memory_bandwidth_bytes_per_s = 0;  ///< Bandwidth of all its processors together.

  bool operator==(const Host&) const = default;
};

/// Devices, how they are joined, and who shares what. A node is `devices_per_node` consecutive
/// ranks on a fast fabric. Levels nest and are ordered by size; the last one spans all devices. A
/// level whose lower unit holds the whole cluster is kept (more nodes would need it) and carries
/// nothing.
struct Cluster {
  std::string name;
  Device device;
  std::int64_t nodes = 1;
  std::int64_t devices_per_node = 1;
  std::int64_t nics_per_node = 1;
  double nic_bytes_per_s = 0;  ///< One NIC, per direction; 0: a node without a network.
  std::vector<std::int64_t> nic_of_device;  ///< Per device of a node, the NIC that is nearest.
  std::vector<Level> levels;
  Host host;
  /// Bus bandwidth of an all-reduce of 1 GiB over all devices on several nodes, as nccl-tests
  /// counts, measured; 0: not stated.
  double all_reduce_bytes_per_s = 0;
  std::string fit = "unfitted";  ///< Provenance of the cost constants.

  [[nodiscard]] std::int64_t devices() const { return nodes * devices_per_node; }

  bool operator==(const Cluster&) const = default;
};

/// Most devices and most levels that a cluster may have.
inline constexpr std::int64_t kMaxDevices = std::int64_t{1} << 20;
inline constexpr int kMaxLevels = 6;

}  // namespace stepwright::cluster
