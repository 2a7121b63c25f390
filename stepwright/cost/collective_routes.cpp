#include "stepwright/cost/collective_routes.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "stepwright/cluster/adding_switches.h"
#include "stepwright/collective/definition.h"

namespace stepwright::cost {
namespace {

constexpr double kMicro = 1e-6;

double ceil_log2(std::int64_t number) {
  return static_cast<double>(std::bit_width(static_cast<std::uint64_t>(number - 1)));
}

double inside_share(const MessageRouteTimes& routes,
                    const CollectiveOperationConstants& constants) {
  return constants.inside_share * (1 - constants.few_ranks * routes.few_ranks);
}

/// Returns the factor on the time of transfers across nodes.
double crowded(const MessageRouteTimes& routes, const CollectiveOperationConstants& constants) {
  return constants.congestion > 0 ? std::pow(routes.crowd, constants.congestion) : 1;
}

/// A library algorithm with its route and its constants: of the network and, with switches that
/// add, of the links inside.
struct Way {
  collective::CollectiveAlgorithm algorithm;
  MessageRouteTime MessageRouteTimes::* route;
  double CollectiveOperationConstants::* network_share;
  double CollectiveOperationConstants::* switch_share =
      nullptr;  ///< Set: only the full protocol is used.
};
constexpr Way kLibraryWays[] = {
    {collective::CollectiveAlgorithm::kRing, &MessageRouteTimes::ring,
     &CollectiveOperationConstants::network_share},
    {collective::CollectiveAlgorithm::kTree, &MessageRouteTimes::tree,
     &CollectiveOperationConstants::tree_share},
    {collective::CollectiveAlgorithm::kNvls, &MessageRouteTimes::switches,
     &CollectiveOperationConstants::tree_share, &CollectiveOperationConstants::switch_share}};

bool exists(const Way& algorithm, const MessageRouteTimes& routes,
            const CollectiveOperationConstants& constants) {
  return (routes.*algorithm.route).exists &&
         (algorithm.switch_share == nullptr || constants.*algorithm.switch_share > 0);
}

/// Returns the seconds of the transfer by the full protocol.
double move_s(const Way& algorithm, const MessageRouteTimes& routes,
              const CollectiveOperationConstants& constants) {
  const MessageRouteTime& route = routes.*algorithm.route;
  const double inside_s =
      route.inside_s / (algorithm.switch_share == nullptr ? inside_share(routes, constants)
                                                          : constants.*algorithm.switch_share);
  const double network_s =
      route.network_s * crowded(routes, constants) / constants.*algorithm.network_share;
  return routes.stages > 1 ? inside_s + network_s : std::max(inside_s, network_s);
}

MessageTimeParts times(const MessageRouteTimes& routes, const MessageRouteTime& route, double move,
                       const CollectiveProtocolConstants& protocol) {
  return {routes.stages * kMicro * protocol.start_us + protocol.hop * route.inside_hops_s +
              protocol.network_hop * route.network_hops_s,
          move / protocol.rate};
}

/// Returns the squared seconds of one algorithm by the protocol that the library chooses.
double chosen(const Way& algorithm, const MessageRouteTimes& routes,
              const CollectiveOperationConstants& constants) {
  const MessageRouteTime& route = routes.*algorithm.route;
  const double move = move_s(algorithm, routes, constants);
  double least = INFINITY;
  double result = 0;
  const std::size_t first = algorithm.switch_share == nullptr ? 0 : kProtocols - 1;
  for (std::size_t i = first; i < constants.protocols.size(); ++i) {
    const CollectiveProtocolConstants& protocol = constants.protocols[i];
    const double squared_message_seconds =
        times(routes, route, move, protocol).squared_message_seconds(constants.fill);
    const double believed = squared_message_seconds * protocol.selection * protocol.selection;
    if (believed > least) continue;
    least = believed;
    result = squared_message_seconds;
  }
  return result;
}

}  // namespace

ClusterLineRates::ClusterLineRates(const cluster::Cluster& cluster) {
  const int levels = std::min(static_cast<int>(cluster.levels.size()), cluster::kMaxLevels);
  for (int i = 0; i < levels; ++i) {
    const double uplink = cluster.levels[i].uplink_bytes_per_s;
    levels_[i] = {uplink > 0 ? 1 / uplink : 0, cluster.levels[i].latency_s};
    const std::int64_t lower = i == 0 ? 1 : cluster.levels[i - 1].size;
    if (cluster.levels[i].mesh) levels_[i].others = cluster.levels[i].size / lower - 1;
  }
  inside_ = std::min(collective::intra_node_level_count(cluster), levels);
  inner_ = collective::intra_node_pattern(cluster);
  adds_inside_ = cluster::node_switches_reduce(cluster::in_network_reduction_support(cluster));
  const std::int64_t own =
      std::max<std::int64_t>(1, cluster.nics_per_node / cluster.devices_per_node);
  const double nic = cluster.nic_bytes_per_s * static_cast<double>(own);
  nic_s_per_byte_ = nic > 0 ? 1 / nic : 0;
}

/// Returns the share of a unit's uplinks that connect it to the units that take part; 1 through a
/// switch.
double ClusterLineRates::share_of_links(const CollectiveMessage& message, int level) const {
  const std::int64_t others = levels_[level].others;
  if (others == 0) return 1;
  const cluster::GroupLayout& layout = message.layout;
  const std::int64_t lower = level == 0 ? 1 : layout.members[level - 1];
  const std::int64_t part = message.collective == collective::CollectiveOperation::kPointToPoint
                                ? 1
                                : (layout.members[level] - 1) / lower;
  return static_cast<double>(std::clamp<std::int64_t>(part, 1, others)) /
         static_cast<double>(others);
}

MessageRouteTime ClusterLineRates::route(const CollectiveMessage& message) const {
  const cluster::GroupLayout& layout = message.layout;
  const collective::LevelLoads loads = collective::network_level_loads(
      message.collective, message.algorithm, message.payload_bytes, layout, inside_);
  const double senders =
      message.collective == collective::CollectiveOperation::kPointToPoint
          ? 1
          : static_cast<double>(collective::group_members_per_node(layout, inside_));
  MessageRouteTime route;
  for (int i = 0; i <= layout.span; ++i) {
    const NetworkLevelLink& link = levels_[i];
    const double sharers = static_cast<double>(std::max<std::int64_t>(1, layout.sharers[i]));
    if (i < inside_) {
      route.inside_s = std::max(
          route.inside_s, loads[i].bytes * sharers * link.s_per_byte / share_of_links(message, i));
      route.inside_hops_s += loads[i].messages * link.latency_s;
    } else {
      const double slowest = std::max(sharers * link.s_per_byte, nic_s_per_byte_ / senders);
      route.network_s = std::max(route.network_s, loads[i].bytes * slowest);
      route.network_hops_s += loads[i].messages * link.latency_s;
    }
  }
  return route;
}

/// Adds the tree routes. Two nodes exchange their sums. More nodes use two trees, each with half of
/// the buffer: an inner node sends to its parent and to two children in one tree, and to a parent
/// in the other (Sanders et al. 2009).
void ClusterLineRates::add_tree(MessageRouteTimes& routes, const CollectiveMessage& message) const {
  const cluster::GroupLayout& layout = message.layout;
  const std::int64_t together = collective::group_members_per_node(layout, inside_);
  const std::int64_t nodes = collective::group_node_count(layout, inside_);
  const double sent = collective::bytes_sent_by_each_rank(
      collective::CollectiveOperation::kAllReduce, 1, layout.size);
  routes.tree = routes.ring;
  routes.tree.exists = nodes > 1;
  routes.tree.network_s *= (nodes == 2 ? 1 : 2) / sent;
  routes.tree.inside_hops_s = 0;
  if (together > 1) {
    routes.tree.inside_hops_s =
        2 * static_cast<double>(together - 1) * levels_[inside_ - 1].latency_s;
  }
  if (nodes > 1) routes.tree.network_hops_s = 2 * ceil_log2(nodes) * levels_[layout.span].latency_s;
  routes.switches = routes.tree;
  routes.switches.inside_s = routes.ring.inside_s / sent;
  routes.switches.exists = together >= cluster::kMinNvlsRanksPerNode;
}

/// Lets both levels of a route run at once. Behind a switch a chunk takes one hop inside.
void ClusterLineRates::overlap_levels(MessageRouteTime& route,
                                      const CollectiveMessage& message) const {
  const auto members =
      static_cast<double>(collective::group_members_per_node(message.layout, inside_));
  const auto nodes = static_cast<double>(collective::group_node_count(message.layout, inside_));
  const collective::OverlappedLevelSeconds levels =
      collective::OverlappedLevelSeconds{message.collective, members, nodes, route.inside_s,
                                         route.network_s}
          .add_non_overlapping_seconds();
  route.inside_s = levels.inside_s;
  route.network_s = levels.network_s;
  if (inner_ == collective::IntraGroupPattern::kDirect) route.inside_hops_s /= members - 1;
}

MessageRouteTimes ClusterLineRates::message_times_by_route(const CollectiveMessage& message) const {
  const std::int64_t together = collective::group_members_per_node(message.layout, inside_);
  const collective::MessagePattern pattern = collective::definition_of(message.algorithm).pattern;
  const bool at_once = pattern == collective::MessagePattern::kLevelsAtOnce;
  const bool in_turn = pattern == collective::MessagePattern::kLevelsInTurn;
  MessageRouteTimes routes;
  routes.few_ranks = 1.0 / static_cast<double>(std::max<std::int64_t>(1, together - 1));
  const std::int64_t nodes = collective::group_node_count(message.layout, inside_);
  if (nodes > 1 && message.collective != collective::CollectiveOperation::kPointToPoint) {
    // ranks in one ring
    const std::int64_t beside = at_once || in_turn ? nodes : message.layout.size;
    routes.crowd = std::max(1.0, static_cast<double>(beside) / kMaxRanksWithoutCongestion);
  }
  routes.ring = route(message);
  routes.ring.exists = true;
  const bool reduces = message.collective == collective::CollectiveOperation::kAllReduce;
  if (at_once) {
    overlap_levels(routes.ring, message);
  } else if (in_turn) {
    routes.stages = reduces ? 3 : 2;
  } else if (reduces) {
    add_tree(routes, message);
  }
  return routes;
}

/// Uses the rates of `route` for each level: inside a node the rate of a rank alone; out of a node
/// the rate of each rank while all send, and of one that sends alone.
collective::GroupLinkRates ClusterLineRates::link_rates_of_message(
    const CollectiveMessage& message, const CollectiveOperationConstants& constants) const {
  const cluster::GroupLayout& layout = message.layout;
  const collective::GroupNodeLayout node_layout_of_group = this->node_layout_of_group(layout);
  const CollectiveProtocolConstants& full = constants.protocols.back();
  collective::GroupLinkRates link_rates_of_message{
      .members = static_cast<std::int32_t>(node_layout_of_group.members),
      .nodes = static_cast<std::int32_t>(node_layout_of_group.nodes),
      .message_s = collective::kDefaultMessageStartSeconds};
  const auto members = static_cast<double>(node_layout_of_group.members);
  const double few = node_layout_of_group.members > 1 ? constants.few_ranks / (members - 1) : 0;
  const double inside_rate = constants.inside_share * (1 - few) * full.rate;
  const double network_rate = constants.network_share * full.rate;
  for (int i = 0; i <= layout.span; ++i) {
    const NetworkLevelLink& link = levels_[i];
    const double shared_s =
        static_cast<double>(std::max<std::int64_t>(1, layout.sharers[i])) * link.s_per_byte;
    if (i < inside_) {
      link_rates_of_message.inside_s_per_byte =
          std::max(link_rates_of_message.inside_s_per_byte,
                   shared_s / inside_rate / share_of_links(message, i));
      link_rates_of_message.inside_latency_s = full.hop * link.latency_s;
    } else {
      const double alone_s = std::max(shared_s, nic_s_per_byte_) / network_rate;
      const double all_s = members * std::max(shared_s, nic_s_per_byte_ / members) / network_rate;
      link_rates_of_message.lone_s_per_byte =
          std::max(link_rates_of_message.lone_s_per_byte, alone_s);
      link_rates_of_message.rail_s_per_byte =
          std::max(link_rates_of_message.rail_s_per_byte, all_s);
      link_rates_of_message.network_latency_s = full.network_hop * link.latency_s;
    }
  }
  return link_rates_of_message;
}

std::optional<MessageTimeParts> message_start_and_transfer_times(
    const MessageRouteTimes& routes, const CollectiveOperationConstants& constants,
    collective::CollectiveAlgorithm algorithm, CollectiveProtocol protocol) {
  for (const Way& one : kLibraryWays) {
    const bool only_full = one.switch_share != nullptr && protocol != CollectiveProtocol::kFull;
    if (one.algorithm != algorithm || only_full || !exists(one, routes, constants)) continue;
    return times(routes, routes.*one.route, move_s(one, routes, constants),
                 constants.protocols[static_cast<std::size_t>(protocol)]);
  }
  return {};
}

double message_seconds_by_protocol(const MessageRouteTimes& routes,
                                   const CollectiveOperationConstants& constants,
                                   CollectiveProtocol protocol) {
  double least = INFINITY;
  for (const collective::CollectiveAlgorithm algorithm : kCollectiveLibraryAlgorithms) {
    if (const auto found =
            message_start_and_transfer_times(routes, constants, algorithm, protocol)) {
      least = std::min(least, found->squared_message_seconds(constants.fill));
    }
  }
  return std::sqrt(least);
}

double message_seconds_by_algorithm(const MessageRouteTimes& routes,
                                    const CollectiveOperationConstants& constants,
                                    collective::CollectiveAlgorithm algorithm) {
  double least = INFINITY;
  for (const Way& one : kLibraryWays) {
    const bool taken =
        algorithm == collective::CollectiveAlgorithm::kLibrary || algorithm == one.algorithm;
    if (!taken || !exists(one, routes, constants)) continue;
    least = std::min(least, chosen(one, routes, constants));
  }
  return std::sqrt(least);
}

bool is_network_bound(const MessageRouteTimes& routes,
                      const CollectiveOperationConstants& constants) {
  if (routes.ring.network_s == 0) return false;
  return routes.ring.network_s * crowded(routes, constants) / constants.network_share >=
         routes.ring.inside_s / inside_share(routes, constants);
}

}  // namespace stepwright::cost
