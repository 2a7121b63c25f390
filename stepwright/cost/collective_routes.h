#pragma once

#include <cstdint>
#include <optional>

#include "stepwright/cluster/layout.h"
#include "stepwright/collective/closed_form.h"
#include "stepwright/collective/wire.h"
#include "stepwright/cost/laws/collective_constants.h"

namespace stepwright::cost {

/// One route of a message at line rates: the seconds of its bytes and of its hops, inside nodes and
/// on the network. `exists`: false if a message has no such route.
struct MessageRoute {
  double inside_s = 0;
  double network_s = 0;
  double inside_hops_s = 0;
  double network_hops_s = 0;
  bool exists = false;
};

/// All routes that a message may take.
struct MessageRoutes {
  MessageRoute ring;  ///< The ring; for an operation without rings the direct or staged route.
  MessageRoute tree;  ///< An all-reduce up and down a tree of nodes, with a chain inside each node.
  /// An all-reduce on the same tree, added up by the switches inside the nodes (NVLS).
  MessageRoute switches;
  double few_ranks = 1;  ///< 1 / (ranks of a node - 1), at most 1.
  double crowd = 1;      ///< Ranks of a group across nodes over kUncrowdedRanks; at least 1.
  /// Number of collectives that run one after the other; above 1 their transfers add up.
  double stages = 1;
};

/// A message of a collective operation, or a point-to-point one.
struct CollectiveMessage {
  collective::Collective collective{};
  double payload_bytes = 0;  ///< Bytes of the message's full buffer.
  cluster::GroupLayout layout;
  /// Algorithm, which must cover the operation and suit the group.
  collective::Algorithm algorithm = collective::Algorithm::kLibrary;
};

/// The links of a cluster at their line rates.
class LineRates {
 public:
  explicit LineRates(const cluster::Cluster& cluster);

  /// Returns the routes of a message of a group of at least two ranks.
  [[nodiscard]] MessageRoutes routes(const CollectiveMessage& message) const;
  /// Returns how the group of a layout is placed on nodes.
  [[nodiscard]] collective::GroupNodeLayout form(const cluster::GroupLayout& layout) const {
    return collective::group_form(layout, inside_, adds_inside_);
  }
  /// Returns the links that a schedule uses in the message's group, with an operation's shares of
  /// line rates.
  [[nodiscard]] collective::GroupLinks links(const CollectiveMessage& message,
                                             const OperationConstants& constants) const;

 private:
  /// A link of one network level of the cluster.
  struct Link {
    double s_per_byte = 0;
    double latency_s = 0;
    std::int64_t others = 0;  ///< In a mesh: the other units, each with a link of its own; else 0.
  };

  [[nodiscard]] double share_of_links(const CollectiveMessage& message, int level) const;
  [[nodiscard]] MessageRoute route(const CollectiveMessage& message) const;
  void overlap_levels(MessageRoute& route, const CollectiveMessage& message) const;
  void add_tree(MessageRoutes& routes, const CollectiveMessage& message) const;

  std::array<Link, cluster::kMaxLevels> levels_{};
  int inside_ = 0;
  bool adds_inside_ = false;
  collective::IntraGroupPattern inner_{};
  /// Seconds per byte of one device that sends alone through its own NICs.
  double nic_s_per_byte_ = 0;
};

/// The algorithms of all-reduces, all-gathers and reduce-scatters that a library has names for:
/// along rings, along trees of nodes (all-reduces on several nodes), and by switches that add
/// (all-reduces of whole nodes; NCCL's nvls, and nvls_tree on several nodes).
inline constexpr collective::Algorithm kLibraryAlgorithms[] = {
    collective::Algorithm::kRing, collective::Algorithm::kTree, collective::Algorithm::kNvls};

/// The seconds of a message over one route by one protocol. `wait_s`: start and hops; `move_s`: the
/// transfer, which grows with the payload and is 0 without one.
struct AlgorithmTimes {
  double wait_s = 0;
  double move_s = 0;

  /// Returns squared seconds, because most results are only compared.
  [[nodiscard]] double squared(double fill) const {
    return wait_s * wait_s + move_s * (2 * fill * wait_s + move_s);
  }
};

/// Returns the times of an algorithm over `routes`; nullopt where they lack its route. Switches add
/// with the full protocol only.
std::optional<AlgorithmTimes> algorithm_times(const MessageRoutes& routes,
                                              const OperationConstants& constants,
                                              collective::Algorithm algorithm, Protocol protocol);

/// Returns the seconds over `routes` by one protocol, on the fastest route. Never falls when bytes
/// grow.
double protocol_seconds(const MessageRoutes& routes, const OperationConstants& constants,
                        Protocol protocol);

/// Returns the seconds over `routes` by one algorithm (kLibrary: the fastest one), with the
/// protocol that the library expects to be fastest (`ProtocolConstants::selection`). Never falls
/// when bytes grow: on one route two protocols change places once, and the later one has the
/// smaller selection factor. Infinite where `routes` lack the algorithm's route.
double seconds(const MessageRoutes& routes, const OperationConstants& constants,
               collective::Algorithm algorithm = collective::Algorithm::kLibrary);

/// True if the network, not the links inside nodes, sets the pace of the ring.
bool outside(const MessageRoutes& routes, const OperationConstants& constants);

}  // namespace stepwright::cost
