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

inline constexpr Named<collective::Collective> kCollectiveNames[] = {
    {collective::Collective::kAllReduce, "all_reduce"},
    {collective::Collective::kAllGather, "all_gather"},
    {collective::Collective::kReduceScatter, "reduce_scatter"},
    {collective::Collective::kAllToAll, "all_to_all"},
    {collective::Collective::kPointToPoint, "send_recv"},
};
inline constexpr int kCollectives = std::size(kCollectiveNames);

/// The protocols by which a collective library sends data, from the one with the shortest start and
/// the lowest rate to the one with the longest and the highest. NCCL calls them LL, LL128, Simple.
enum class Protocol { kLowLatency, kLowLatency128, kFull };
inline constexpr int kProtocols = 3;

/// The constants of one protocol of a collective library.
struct ProtocolConstants {
  double start_us = 0;     ///< Start of a message in microseconds.
  double hop = 0;          ///< Time of a hop inside a node, as a multiple of the link's latency.
  double network_hop = 0;  ///< Time of a hop on the network, as a multiple of that link's latency.
  double rate = 1;         ///< Rate of the protocol, as a share of the full protocol's.
  /// Selection factor (`belief` in files): the library chooses the protocol whose time multiplied
  /// by its factor is least; with 1 for all, the fastest one. It never grows from one protocol to
  /// the next, so that time grows with the payload.
  double selection = 1;

  bool operator==(const ProtocolConstants&) const = default;
};

/// The cost of one operation: the constants of
///
///     seconds^2 = wait^2 + 2 fill wait move + move^2
///     wait      = start + hops * latency
///     move      = max(bytes inside / (inside_share (1 - few_ranks / (n - 1)) line rate),
///                     bytes on the network / (network_share line rate) * crowd^crowding) / rate
///
/// for n ranks in a node; crowd is 1, or the ranks of a group across nodes over kUncrowdedRanks.
struct OperationConstants {
  std::array<ProtocolConstants, kProtocols> protocols;
  /// How start and transfer combine: 0: in parallel (the longer counts); 1: one after the other;
  /// above 1: a pipeline that fills slowly.
  double fill = 1;
  double inside_share = 1;   ///< Share of the line rate inside a node, with many ranks.
  double few_ranks = 0;      ///< Share of the rate inside a node that n ranks lose, times n - 1.
  double network_share = 1;  ///< Share of the NICs' line rate that messages attain.
  double tree_share = 1;  ///< Share of the NICs' line rate along a tree of nodes; all-reduce only.
  double congestion = 0;  ///< Exponent of `crowd` with which large groups lose network rate.
  /// Share of the line rate inside a node when the switch adds (NVLS) and each rank sends its
  /// buffer once; all-reduce only; 0: no switch adds.
  double switch_share = 0;

  bool operator==(const OperationConstants&) const = default;
};

/// Ranks of two nodes of eight: messages of larger groups disturb each other in the network.
inline constexpr double kUncrowdedRanks = 16;

/// Constants of every operation on one kind of machine.
struct CollectiveConstants {
  std::array<OperationConstants, kCollectives> operations;  ///< Constants, indexed by `Collective`.
  std::optional<std::string> fit;  ///< Profile that fitted them; nullopt: documented defaults.
  /// True if the constants were fitted on this very cluster, not on others with its device.
  bool of_cluster = false;
  /// Ranges of bytes, ranks and nodes of the fitted messages, by operation; empty: none were
  /// fitted.
  std::array<std::vector<FittedRange>, kCollectives> ranges;

  [[nodiscard]] const OperationConstants& of(collective::Collective collective) const {
    return operations[static_cast<std::size_t>(collective)];
  }
};

/// Unfitted rate of a tree on the network over that of a ring: with switches that add
/// (`kSwitchTree`), and with a chain inside each node (`kChainTree`).
inline constexpr double kSwitchTree = 0.9;
inline constexpr double kChainTree = 0.55;
/// Unfitted share of the line rate at which switches add.
inline constexpr double kDefaultSwitchShare = 0.5;

/// Returns the documented constants for machines that were not sampled (`docs/models.md`): medians
/// of the fitted ones, with the `network_share` of the device's generation.
const CollectiveConstants& default_collectives();

}  // namespace stepwright::cost
