#pragma once

#include <cstdint>
#include <optional>

#include "stepwright/cluster/layout.h"
#include "stepwright/collective/closed_form.h"
#include "stepwright/collective/wire.h"
#include "stepwright/cost/laws/collective_constants.h"

namespace stepwright::cost {

/// One way of carrying a message at line rates: the seconds of its bytes and of its hops.
struct Route {
  double inside_s = 0;
  double network_s = 0;
  double inside_hops_s = 0;
  double network_hops_s = 0;
  bool exists = false;
};

/// All ways that a message may take.
struct Routes {
  Route ring;            ///< Or direct, or staged.
  Route tree;            ///< An all-reduce up and down a tree of nodes, a chain inside each.
  Route switches;        ///< An all-reduce on the same tree that the switches of the nodes add.
  double few_ranks = 1;  ///< 1 / (ranks of a node - 1), the most 1.
  double crowd = 1;      ///< Ranks across nodes over kUncrowdedRanks, at least 1.
  double stages = 1;     ///< Collectives one after the other; above 1 their transfers add up.
};

/// A message of one operation.
struct CollectiveMessage {
  collective::Collective collective{};
  double payload_bytes = 0;  ///< Bytes of the full buffer.
  cluster::GroupLayout layout;
  collective::Algorithm algorithm =
      collective::Algorithm::kLibrary;  ///< Covers the operation and suits the group.
};

/// The links of a cluster at their line rates.
class LineRates {
 public:
  explicit LineRates(const cluster::Cluster& cluster);

  /// The routes of a message of a group of at least two.
  [[nodiscard]] Routes routes(const CollectiveMessage& message) const;
  /// How the message's group lies.
  [[nodiscard]] collective::GroupForm form(const cluster::GroupLayout& layout) const {
    return collective::group_form(layout, inside_, adds_inside_);
  }
  /// The links that a schedule in such a group has, with an operation's shares of line rates.
  [[nodiscard]] collective::GroupLinks links(const CollectiveMessage& message,
                                             const OperationConstants& constants) const;

 private:
  /// A link of one level of the cluster.
  struct Link {
    double s_per_byte = 0;
    double latency_s = 0;
    std::int64_t others = 0;  ///< In a mesh: units beside one, each with its own link; else 0.
  };

  [[nodiscard]] double share_of_links(const CollectiveMessage& message, int level) const;
  [[nodiscard]] Route route(const CollectiveMessage& message) const;
  void overlap_levels(Route& route, const CollectiveMessage& message) const;
  void add_tree(Routes& routes, const CollectiveMessage& message) const;

  std::array<Link, cluster::kMaxLevels> levels_{};
  int inside_ = 0;
  bool adds_inside_ = false;
  collective::Inner inner_{};
  double nic_s_per_byte_ = 0;  ///< One device alone through its own NICs.
};

/// The ways of all-reduces, all-gathers and reduce-scatters that a library has names for: along
/// rings, along trees of nodes (all-reduces on several of them), and by switches that add
/// (all-reduces of whole nodes; NCCL's nvls, and nvls_tree on several).
inline constexpr collective::Algorithm kLibraryAlgorithms[] = {
    collective::Algorithm::kRing, collective::Algorithm::kTree, collective::Algorithm::kNvls};

/// The seconds of a message one way by one protocol: start and hops, and the transfer, which grows
/// with the payload and is nothing without one.
struct AlgorithmTimes {
  double wait_s = 0;
  double move_s = 0;

  /// Squared seconds, because most of them are only compared.
  [[nodiscard]] double squared(double fill) const {
    return wait_s * wait_s + move_s * (2 * fill * wait_s + move_s);
  }
};

/// The times over `routes`; nothing where they lack the way. Switches add by the full protocol
/// alone.
std::optional<AlgorithmTimes> algorithm_times(const Routes& routes,
                                              const OperationConstants& constants,
                                              collective::Algorithm algorithm, Protocol protocol);

/// Seconds over `routes` by one protocol: the fastest route. Never falls when bytes grow.
double protocol_seconds(const Routes& routes, const OperationConstants& constants,
                        Protocol protocol);

/// Seconds over `routes` one way, by the protocol that the library believes in; by the library the
/// fastest way. Never falls when bytes grow: on one route two protocols change places once, and the
/// later one has the smaller belief. Infinite where `routes` lack the way.
double seconds(const Routes& routes, const OperationConstants& constants,
               collective::Algorithm algorithm = collective::Algorithm::kLibrary);

/// Whether the network sets the pace of the ring.
bool outside(const Routes& routes, const OperationConstants& constants);

}  // namespace stepwright::cost
