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

/// One kind of accelerator. Rates are peaks of one device; bandwidths are per direction.
struct Device {
  std::string name;
  std::map<DType, double> peak_flops;  ///< Dense FLOP/s by input precision.
  /// Bytes that a process can allocate, which is less than the nominal size.
  double memory_bytes = 0;
  double memory_bandwidth_bytes_per_s = 0;
  /// Bandwidth to the memory of its host, in each direction; 0: not stated.
  double host_link_bytes_per_s = 0;
  /// Generation, if stated; null: `device_generation_of` infers it (cluster/generation.h).
  const DeviceGeneration* generation = nullptr;
  /// True for a board that differs from those in published runs of its generation: in power, memory
  /// or links.
  bool variant = false;
  /// Power limit of the board in W, if it differs from that of the generation's best-known board;
  /// 0: it does not.
  double board_power_w = 0;

  bool operator==(const Device&) const = default;
};

/// Kinds of links of a level. Only NVLink is distinguished, because its switches add from Hopper
/// on.
enum class LinkTechnology : std::uint8_t { kOther, kNvlink };
inline constexpr Named<LinkTechnology> kLinkTechnologyNames[] = {
    {LinkTechnology::kOther, "other"}, {LinkTechnology::kNvlink, "nvlink"}};

/// One level of the fabric; levels are ordered from the innermost outwards. A level joins units of
/// the level below (single devices for the first) into units of `size` devices. All traffic that
/// leaves a lower unit shares `uplink_bytes_per_s`, whether it stays within this level's unit or
/// goes further.
struct FabricLevel {
  std::string name;               ///< Any name: nvlink, pcie, network, leaf, spine, ...
  std::int64_t size = 1;          ///< Devices in one unit; may exceed those of the cluster.
  double uplink_bytes_per_s = 0;  ///< Bandwidth of one lower unit's uplink, per direction.
  double latency_s = 0;           ///< Seconds of latency of one message over this level.
  /// True for a level between nodes. Its uplink is computed from the NICs: line rate of all NICs in
  /// the lower unit, divided by `oversubscription`.
  bool network = false;
  double oversubscription = 1;
  /// True for a level inside a node without a switch. Each lower unit is connected to every other
  /// one in its unit by an equal share of its uplink, so that a group of a few units has only the
  /// links between them.
  bool mesh = false;
  LinkTechnology links = LinkTechnology::kOther;

  bool operator==(const FabricLevel&) const = default;
};

/// The host of a node, whose memory and links offloading uses. 0: not stated.
struct Host {
  double memory_bytes = 0;
  double memory_bandwidth_bytes_per_s = 0;  ///< Memory bandwidth of all its processors together.

  bool operator==(const Host&) const = default;
};

/// A cluster: its devices, how they are connected, and which of them share links. A node is
/// `devices_per_node` consecutive ranks on a fast fabric. Levels are nested and ordered by size;
/// the last one spans all devices. A level whose lower unit contains the whole cluster is kept,
/// because more nodes would need it, but carries no traffic.
struct Cluster {
  std::string name;
  Device device;
  std::int64_t nodes = 1;
  std::int64_t devices_per_node = 1;
  std::int64_t nics_per_node = 1;
  double nic_bytes_per_s = 0;  ///< Bandwidth of one NIC, per direction; 0: nodes have no network.
  /// For each device of a node, the index of its nearest NIC.
  std::vector<std::int64_t> nic_of_device;
  std::vector<FabricLevel> levels;
  Host host;
  /// Measured bus bandwidth, as nccl-tests counts it, of an all-reduce of 1 GiB over all devices of
  /// several nodes; 0: not stated.
  double all_reduce_bytes_per_s = 0;
  /// Origin of the cost constants ("unfitted": documented defaults).
  std::string fit = "unfitted";

  [[nodiscard]] std::int64_t devices() const { return nodes * devices_per_node; }

  bool operator==(const Cluster&) const = default;
};

/// The most devices, and the most levels, that a cluster may have.
inline constexpr std::int64_t kMaxDevices = std::int64_t{1} << 20;
inline constexpr int kMaxLevels = 6;

}  // namespace stepwright::cluster
