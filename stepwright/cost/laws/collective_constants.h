#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/cluster/cluster.h"
#include "stepwright/collective/wire.h"
#include "stepwright/core/named.h"
#include "stepwright/cost/laws/fitted_range.h"

namespace stepwright::cost {

inline constexpr Named<collective::CollectiveOperation> kCollectiveNames[] = {
    {collective::CollectiveOperation::kAllReduce, "all_reduce"},
    {collective::CollectiveOperation::kAllGather, "all_gather"},
    {collective::CollectiveOperation::kReduceScatter, "reduce_scatter"},
    {collective::CollectiveOperation::kAllToAll, "all_to_all"},
    {collective::CollectiveOperation::kPointToPoint, "send_recv"},
};
inline constexpr int kCollectives = std::size(kCollectiveNames);

/// Protocols by which a collective library sends data (NCCL's LL, LL128, Simple), from the one with
/// the shortest start time and lowest rate to the one with the longest start and highest rate.
enum class CollectiveProtocol { kLowLatency, kLowLatency128, kFull };
inline constexpr int kProtocols = 3;

/// Fitted constants of one protocol of a collective library (NCCL's LL, LL128 or Simple).
struct CollectiveProtocolConstants {
  double start_us = 0;  ///< Microseconds to start a message.
  /// Time of a hop between two ranks of a node, as a multiple of the link's latency.
  double hop = 0;
  /// Time of a hop on the network, as a multiple of the network link's latency.
  double network_hop = 0;
  double rate = 1;  ///< Bandwidth of the protocol, as a share of the full protocol's (Simple).
  /// Factor with which the library's own estimate misjudges the protocol (`belief` in files): it
  /// chooses the protocol with the least time x factor. 1 for all: it chooses the fastest. Factors
  /// never grow from one protocol to the next, so that the time never falls when bytes grow.
  double selection = 1;

  bool operator==(const CollectiveProtocolConstants&) const = default;
};

/// The fitted cost of one collective operation, for a group with n ranks in a node:
///
///     seconds^2 = wait^2 + 2 fill wait move + move^2
///     wait      = start + hops * latency
///     move      = max(bytes inside / (inside_share (1 - few_ranks / (n - 1)) line rate),
///                     bytes on the network / (network_share line rate) * crowd^congestion) / rate
///
/// crowd is 1 for groups inside one node or of up to `kMaxRanksWithoutCongestion` ranks, else ranks
/// / `kMaxRanksWithoutCongestion`.
struct CollectiveOperationConstants {
  std::array<CollectiveProtocolConstants, kProtocols> protocols;
  /// How start and transfer of a message combine. 0: they overlap (square root of the sum of
  /// squares); 1: one after the other; above 1: a pipeline that fills slowly.
  double fill = 1;
  double inside_share = 1;  ///< Share of the intra-node line rate that large groups attain.
  /// Loss of intra-node rate in small groups: n ranks in a node lose the share few_ranks / (n - 1).
  double few_ranks = 0;
  /// Share of the NICs' line rate that messages attain, except along trees.
  double network_share = 1;
  /// Share of the NICs' line rate that an all-reduce along a tree of nodes attains.
  double tree_share = 1;
  /// Exponent of network slow-down in large groups: time grows as (ranks /
  /// `kMaxRanksWithoutCongestion`)^congestion.
  double congestion = 0;
  /// Share of the intra-node line rate that an all-reduce attains when the switch adds (NVLS) and
  /// each rank sends its buffer once; 0: the switch does not add.
  double switch_share = 0;

  bool operator==(const CollectiveOperationConstants&) const = default;
};

/// Ranks above which a group across nodes suffers network congestion: two nodes of eight GPUs.
inline constexpr double kMaxRanksWithoutCongestion = 16;

/// Fitted constants of every collective operation on one kind of machine.
struct MachineCollectiveConstants {
  /// Constants of each operation, indexed by `CollectiveOperation`.
  std::array<CollectiveOperationConstants, kCollectives> operations;
  /// Name of the profile that holds the fit; nullopt: documented defaults.
  std::optional<std::string> fit;
  /// True if the constants were fitted on this very cluster, not on another with the same device.
  bool of_cluster = false;
  /// Ranges of message bytes, ranks and nodes on which the constants were fitted, indexed by
  /// `CollectiveOperation`; empty: not fitted.
  std::array<std::vector<FittedSizeRange>, kCollectives> ranges;

  [[nodiscard]] const CollectiveOperationConstants& of(
      collective::CollectiveOperation collective) const {
    return operations[static_cast<std::size_t>(collective)];
  }
};

/// Assumed network rate of an all-reduce along a tree of nodes / rate of a ring, if the switch
/// inside each node adds.
inline constexpr double kSwitchTreeToRingRateRatio = 0.9;
/// Assumed network rate of an all-reduce along a tree of nodes / rate of a ring, with a chain of
/// ranks inside each node.
inline constexpr double kChainTreeToRingRateRatio = 0.55;
/// Assumed share of the intra-node line rate that an all-reduce attains when the switch adds
/// (NVLS).
inline constexpr double kDefaultNvlsLineRateShare = 0.5;

/// Returns the documented message constants for machines on which no messages were measured
/// (`docs/models.md`): medians of the fitted machines. `collective_constants_without_fit` adapts
/// them to a cluster.
const MachineCollectiveConstants& default_collective_constants();

}  // namespace stepwright::cost
