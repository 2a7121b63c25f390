#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/core/dtype.h"
#include "stepwright/core/named.h"

namespace stepwright::cluster {

struct DeviceGeneration;

/// One kind of accelerator (GPU model). Rates are peaks of one device; bandwidths are per
/// direction.
struct DeviceModel {
  std::string name;
  /// Peak FLOP/s of dense matrix products, by input precision.
  std::map<DType, double> peak_flops;
  /// Bytes of device memory that a process can allocate, which is less than the nominal size.
  double memory_bytes = 0;
  double memory_bandwidth_bytes_per_s = 0;
  /// Bandwidth between the device and its host's memory (PCIe, NVLink-C2C), in each direction; 0:
  /// not stated.
  double host_link_bytes_per_s = 0;
  /// Hardware generation of the device; null: not stated, `device_generation_of` infers it from the
  /// peak FLOP/s.
  const DeviceGeneration* generation = nullptr;
  /// True if the device's power, memory or links differ from those of the devices of its generation
  /// in published runs.
  bool variant = false;
  /// Power limit of the device in W, if it differs from that of its generation's best-known device;
  /// 0: it does not.
  double board_power_w = 0;

  bool operator==(const DeviceModel&) const = default;
};

/// Technology of the links of one level of the cluster. Only NVLink is distinguished, because its
/// switches can reduce data from Hopper on.
enum class LinkTechnology : std::uint8_t { kOther, kNvlink };
inline constexpr Named<LinkTechnology> kLinkTechnologyNames[] = {
    {LinkTechnology::kOther, "other"}, {LinkTechnology::kNvlink, "nvlink"}};

/// One level of the cluster's network, which joins units of the level below (single devices for the
/// first level) into units of `size` devices. All traffic that leaves a lower unit shares that
/// unit's uplink. Levels are ordered from the innermost outwards.
struct NetworkLevel {
  std::string name;  ///< Name of the level, chosen freely: nvlink, pcie, network, leaf, spine, ...
  /// Number of devices in one unit of this level; may exceed the number of devices of the cluster.
  std::int64_t size = 1;
  /// Bandwidth in bytes/s, per direction, of the uplink that one unit of the level below shares.
  double uplink_bytes_per_s = 0;
  double latency_s = 0;  ///< Latency in seconds of one message over this level.
  /// True for a level between nodes. The bandwidth of its uplinks is then computed: the line rate
  /// of all NICs in one unit of the level below, divided by `oversubscription`.
  bool network = false;
  double oversubscription = 1;
  /// True for a level inside a node with direct links instead of a switch: each unit of the level
  /// below divides its uplink equally among all other units, so that a group of few units can use
  /// only the links between them.
  bool mesh = false;
  LinkTechnology links = LinkTechnology::kOther;

  bool operator==(const NetworkLevel&) const = default;
};

/// The host of one node (CPUs and their memory), which offloading uses; a value of 0: not stated.
struct HostHardware {
  double memory_bytes = 0;
  /// Memory bandwidth in bytes/s of all processors of the host together.
  double memory_bandwidth_bytes_per_s = 0;

  bool operator==(const HostHardware&) const = default;
};

/// A cluster: its devices, how they are connected, and which of them share links. A node is
/// `devices_per_node` consecutive ranks. Levels are nested, ordered by size, and the last one spans
/// all devices. A level that only a larger cluster would use is kept, but carries no traffic.
struct Cluster {
  std::string name;
  DeviceModel device;
  std::int64_t nodes = 1;
  std::int64_t devices_per_node = 1;
  std::int64_t nics_per_node = 1;
  double nic_bytes_per_s = 0;  ///< Bandwidth of one NIC, per direction; 0: nodes have no network.
  /// For each device of a node, the index of the NIC that is nearest to it.
  std::vector<std::int64_t> nic_of_device;
  std::vector<NetworkLevel> levels;
  HostHardware host;
  /// Measured bus bandwidth (as nccl-tests counts it), in bytes/s, of an all-reduce of 1 GiB over
  /// all devices of several nodes; 0: not stated.
  double all_reduce_bytes_per_s = 0;
  /// Source of the constants with which the cost model prices this cluster; "unfitted": documented
  /// defaults.
  std::string fit = "unfitted";

  [[nodiscard]] std::int64_t devices() const { return nodes * devices_per_node; }

  bool operator==(const Cluster&) const = default;
};

/// Largest allowed number of devices of a cluster.
inline constexpr std::int64_t kMaxClusterDevices = std::int64_t{1} << 20;
inline constexpr int kMaxLevels = 6;  ///< Largest allowed number of levels of a cluster.

}  // namespace stepwright::cluster
