#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "stepwright/cluster/cluster.h"
#include "stepwright/core/document.h"

namespace stepwright::lab {

/// An emulated link whose rate a token bucket limits. The rate counts packet headers: TCP payload
/// gets the share (packet - 52) / (packet + 14).
struct RateLimitedLink {
  double rate_bytes_per_s = 0;
  /// Largest packet in bytes (MTU), so large that headers hardly matter.
  std::int64_t packet_bytes = 0;
  /// Token bucket's size: bytes that may pass at once after a pause. It is the smallest size that
  /// still reaches the rate although timers fire late.
  std::int64_t burst_bytes = 0;

  bool operator==(const RateLimitedLink&) const = default;
};

/// Returns an emulated link with this rate, and with a packet size and burst that suit it.
RateLimitedLink rate_limited_link(double rate_bytes_per_s);

/// Whether an emulated node has one NIC (kNode) or one for each rank (kRank).
enum class NicOwner : std::uint8_t { kNode, kRank };

/// Description of an emulated cluster, from a file `stepwright: lab/1` (docs/formats.md, "Lab").
struct EmulatedClusterSpec {
  std::string name;
  std::int64_t nodes = 1;
  std::int64_t ranks_per_node = 1;
  /// Link of each NIC: rate in each direction, and packet size.
  RateLimitedLink nic;
  NicOwner nic_of = NicOwner::kNode;
  /// Bus inside a node, which all its ranks share: rate of both directions together, and packet
  /// size.
  RateLimitedLink inside;
  cluster::DeviceModel device;  ///< Device (GPU model) that each rank counts as in predictions.

  [[nodiscard]] std::int64_t ranks() const { return nodes * ranks_per_node; }
  [[nodiscard]] std::int64_t nics_per_node() const {
    return nic_of == NicOwner::kRank ? ranks_per_node : 1;
  }
  /// Returns the bytes/s that all NICs and buses of the emulated cluster carry together, in one
  /// direction.
  [[nodiscard]] double emulated_link_capacity_bytes_per_s() const;

  bool operator==(const EmulatedClusterSpec&) const = default;
};

/// The most nodes that an emulated cluster may have; `kMaxLabRanksPerNode` limits the ranks of each
/// node.
inline constexpr std::int64_t kMaxEmulatedNodes = 64;
inline constexpr std::int64_t kMaxLabRanksPerNode = 64;

/// Reads the description of an emulated cluster. Fails with `kInput` for unknown keys and values
/// out of range, with `kUnsupported` for a latency (only the kernel's netem could add one).
EmulatedClusterSpec read_emulated_cluster(DocumentNode node);

/// Reads the file that describes an emulated cluster.
EmulatedClusterSpec load_emulated_cluster(const std::filesystem::path& path);

/// Returns an emulated cluster as a cluster for predictions, with the nominal rates of its links:
/// each rank gets its share of the node's bus.
cluster::Cluster emulated_cluster_for_prediction(const EmulatedClusterSpec& spec);

/// Returns an emulated cluster as the content of a cluster file, to which a job refers by `cluster:
/// {profile: FILE}`.
nlohmann::ordered_json emulated_cluster_profile(const EmulatedClusterSpec& spec);

}  // namespace stepwright::lab
