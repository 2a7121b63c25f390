#pragma once

#include <cstdint>
#include <optional>

#include "stepwright/cluster/layout.h"
#include "stepwright/collective/closed_form.h"
#include "stepwright/collective/wire.h"
#include "stepwright/cost/laws/collective_constants.h"

namespace stepwright::cost {

/// One way to send a message (ring, tree, ...), with the seconds that its bytes and its hops take
/// at line rate, inside nodes and on the network. `exists`: false if the message cannot go this
/// way.
struct MessageRouteTime {
  double inside_s = 0;
  double network_s = 0;
  double inside_hops_s = 0;
  double network_hops_s = 0;
  bool exists = false;
};

/// All ways in which a collective library may send one message, each timed at line rate.
struct MessageRouteTimes {
  /// Times of a message along a ring; for operations that use no ring, of the direct or two-level
  /// transfer.
  MessageRouteTime ring;
  /// Times of an all-reduce along a tree of nodes, with a chain of ranks inside each node.
  MessageRouteTime tree;
  /// Times of an all-reduce along a tree of nodes in which the switch inside each node adds (NVLS).
  MessageRouteTime switches;
  /// 1 / (n - 1) for n ranks of the group in a node, with which small groups lose intra-node rate;
  /// 1 for a single rank.
  double few_ranks = 1;
  /// Ranks of a ring over several nodes / `kMaxRanksWithoutCongestion`, at least 1: the base of the
  /// network's slow-down.
  double crowd = 1;
  /// Number of collectives into which the algorithm splits the message and which run one after the
  /// other (2 or 3 if two-level); above 1, intra-node and network transfer times add up.
  double stages = 1;
};

/// One message to be priced: a collective operation or a point-to-point transfer, with its bytes,
/// its group and its algorithm.
struct CollectiveMessage {
  collective::CollectiveOperation collective{};
  /// Bytes of the whole buffer before any split over ranks (an all-gather's result).
  double payload_bytes = 0;
  cluster::GroupLayout layout;
  /// Algorithm of the message, which must support the operation and the group; kLibrary: the
  /// collective library chooses.
  collective::CollectiveAlgorithm algorithm = collective::CollectiveAlgorithm::kLibrary;
};

/// The links of a cluster by network level, with their line rates (data-sheet bandwidths), and the
/// time that messages take over them.
class ClusterLineRates {
 public:
  explicit ClusterLineRates(const cluster::Cluster& cluster);

  /// Returns the times of a message by ring, tree and switches at line rate; its group must have at
  /// least two ranks.
  [[nodiscard]] MessageRouteTimes message_times_by_route(const CollectiveMessage& message) const;
  /// Returns how a group is placed on nodes: the number of nodes, and its ranks on each.
  [[nodiscard]] collective::GroupNodeLayout node_layout_of_group(
      const cluster::GroupLayout& layout) const {
    return collective::group_node_layout(layout, inside_, adds_inside_);
  }
  /// Returns the seconds per byte and the latencies of the links over which a scheduled algorithm
  /// sends this message, at the shares of line rate that `constants` say are attained.
  [[nodiscard]] collective::GroupLinkRates link_rates_of_message(
      const CollectiveMessage& message, const CollectiveOperationConstants& constants) const;

 private:
  /// Bandwidth and latency of the links of one network level of the cluster.
  struct NetworkLevelLink {
    double s_per_byte = 0;
    double latency_s = 0;
    /// Number of peers that have a direct link of their own (mesh); 0: links go through a switch.
    std::int64_t others = 0;
  };

  [[nodiscard]] double share_of_links(const CollectiveMessage& message, int level) const;
  [[nodiscard]] MessageRouteTime route(const CollectiveMessage& message) const;
  void overlap_levels(MessageRouteTime& route, const CollectiveMessage& message) const;
  void add_tree(MessageRouteTimes& routes, const CollectiveMessage& message) const;

  std::array<NetworkLevelLink, cluster::kMaxLevels> levels_{};
  int inside_ = 0;
  bool adds_inside_ = false;
  collective::IntraGroupPattern inner_{};
  /// Seconds per byte of a device that sends through its own NICs while its node's other devices
  /// are silent.
  double nic_s_per_byte_ = 0;
};

/// Algorithms that a collective library chooses among: rings; trees of nodes (all-reduces over
/// several nodes); reduction in the switch (all-reduces over whole nodes: NCCL's nvls, nvls_tree
/// over several nodes).
inline constexpr collective::CollectiveAlgorithm kCollectiveLibraryAlgorithms[] = {
    collective::CollectiveAlgorithm::kRing, collective::CollectiveAlgorithm::kTree,
    collective::CollectiveAlgorithm::kNvls};

/// The two parts of a message's time by one algorithm and one protocol (LL, LL128 or Simple), in
/// seconds. `wait_s`: start and hops; `move_s`: transfer of the bytes, 0 for an empty message.
struct MessageTimeParts {
  double wait_s = 0;
  double move_s = 0;

  /// Returns the square of the message's seconds; `fill` says how start and transfer combine
  /// (`CollectiveOperationConstants::fill`). Squares suffice to compare, so most callers save the
  /// root.
  [[nodiscard]] double squared_message_seconds(double fill) const {
    return wait_s * wait_s + move_s * (2 * fill * wait_s + move_s);
  }
};

/// Returns the start and transfer times of a message by one algorithm and one protocol; nullopt if
/// the message cannot use the algorithm, or if switches add (kNvls) with another protocol than
/// kFull.
std::optional<MessageTimeParts> message_start_and_transfer_times(
    const MessageRouteTimes& routes, const CollectiveOperationConstants& constants,
    collective::CollectiveAlgorithm algorithm, CollectiveProtocol protocol);

/// Returns the seconds of a message sent by one protocol (LL, LL128 or Simple) with the fastest of
/// the library's algorithms. Never falls when bytes grow.
double message_seconds_by_protocol(const MessageRouteTimes& routes,
                                   const CollectiveOperationConstants& constants,
                                   CollectiveProtocol protocol);

/// Returns the seconds of a message by one algorithm (kLibrary: the fastest one), with the protocol
/// that the library is expected to choose (`CollectiveProtocolConstants::selection`). Infinite if
/// the message cannot use the algorithm. Never falls when bytes grow: on one route two protocols
/// change places once, and the later one has the smaller selection factor.
double message_seconds_by_algorithm(
    const MessageRouteTimes& routes, const CollectiveOperationConstants& constants,
    collective::CollectiveAlgorithm algorithm = collective::CollectiveAlgorithm::kLibrary);

/// True if the network, not the links inside nodes, limits the speed of the message's ring.
bool is_network_bound(const MessageRouteTimes& routes,
                      const CollectiveOperationConstants& constants);

}  // namespace stepwright::cost
