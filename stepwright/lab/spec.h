#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "stepwright/cluster/cluster.h"
#include "stepwright/core/document.h"

namespace stepwright::lab {

/// A link that a token bucket limits to a rate. The rate includes headers: TCP's payload gets
/// (packet - 52) / (packet + 14) of it.
struct ShapedLink {
  double rate_bytes_per_s = 0;
  /// Largest packet (MTU), large enough that headers do not matter.
  std::int64_t packet_bytes = 0;
  /// Bytes that may pass at once after a pause. The least burst that still reaches the rate is one
  /// packet plus the bytes that the rate carries until a late timer fires.
  std::int64_t burst_bytes = 0;

  bool operator==(const ShapedLink&) const = default;
};

/// Returns a link of this rate, with suitable packets and burst.
ShapedLink shaped_link(double rate_bytes_per_s);

/// Whether each node or each rank has a NIC of its own.
enum class NicOwner : std::uint8_t { kNode, kRank };

/// An emulated cluster, as described by a file `stepwright: lab/1` (docs/formats.md, "Lab").
struct LabSpec {
  std::string name;
  std::int64_t nodes = 1;
  std::int64_t ranks_per_node = 1;
  ShapedLink nic;  ///< Link of one NIC, in each direction.
  NicOwner nic_of = NicOwner::kNode;
  ShapedLink inside;  ///< The bus that all ranks of a node share, for both directions together.
  cluster::Device device;  ///< Device that each rank stands for in predictions.

  [[nodiscard]] std::int64_t ranks() const { return nodes * ranks_per_node; }
  [[nodiscard]] std::int64_t nics_per_node() const {
    return nic_of == NicOwner::kRank ? ranks_per_node : 1;
  }
  /// Returns the bytes/s that all links of the lab carry together when all are busy: every NIC and
  /// every bus, in one direction.
  [[nodiscard]] double shaped_bytes_per_s() const;

  bool operator==(const LabSpec&) const = default;
};

/// Most nodes of a lab, and most ranks of a node.
inline constexpr std::int64_t kMaxLabNodes = 64;
inline constexpr std::int64_t kMaxLabRanksPerNode = 64;

/// Reads a lab. Fails with `kInput` on unknown keys and values out of range, with `kUnsupported` on
/// a latency, which only the kernel's netem could add.
LabSpec read_lab(Node node);

/// Loads the lab that a file describes.
LabSpec load_lab(const std::filesystem::path& path);

/// Returns the lab as a cluster, with nominal rates: a rank sends its share of the node's bus.
cluster::Cluster lab_cluster(const LabSpec& spec);

/// Returns the lab as a cluster file, which `cluster: {profile: FILE}` of a job reads.
nlohmann::ordered_json lab_profile(const LabSpec& spec);

}  // namespace stepwright::lab
