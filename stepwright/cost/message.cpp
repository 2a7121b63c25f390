#include <algorithm>
#include <bit>

#include "stepwright/cost/cost_model.h"
#include "stepwright/cost/device_defaults.h"

namespace stepwright {
namespace {

constexpr double kMicro = 1e-6;

Collective collective_of(OperatorKind kind) {
  switch (kind) {
    case OperatorKind::kAllReduce: return Collective::kAllReduce;
    case OperatorKind::kAllGather: return Collective::kAllGather;
    case OperatorKind::kReduceScatter: return Collective::kReduceScatter;
    case OperatorKind::kAllToAll: return Collective::kAllToAll;
    default: return Collective::kPointToPoint;
  }
}

/// Attainable share of the line rate inside a node, for as many ranks as share one.
double inside_share(Collective collective, std::int64_t ranks) {
  if (collective == Collective::kPointToPoint) return constants::kSendShare.value;
  const double few =
      1 - constants::kFewRanks.value / static_cast<double>(std::max<std::int64_t>(1, ranks - 1));
  switch (collective) {
    case Collective::kAllReduce: return few * constants::kAllReduceShare.value;
    case Collective::kAllToAll: return few * constants::kExchangeShare.value;
    default: return few * constants::kGatherShare.value;
  }
}

double ceil_log2(std::int64_t number) {
  return static_cast<double>(std::bit_width(static_cast<std::uint64_t>(number - 1)));
}

}  // namespace

void CostModel::set_links(const Cluster& cluster) {
  const int levels = std::min(static_cast<int>(cluster.levels.size()), kMaxLevels);
  for (int i = 0; i < levels; ++i) {
    const double uplink = cluster.levels[i].uplink_bytes_per_s;
    links_.levels[i] = {uplink > 0 ? 1 / uplink : 0, cluster.levels[i].latency_s};
  }
  links_.inside = std::min(levels_in_node(cluster), levels);
  links_.network_share = defaults_->network_share;
  const std::int64_t own =
      std::max<std::int64_t>(1, cluster.nics_per_node / cluster.devices_per_node);
  const double nic = cluster.nic_bytes_per_s * static_cast<double>(own);
  links_.nic_s_per_byte = nic > 0 ? 1 / nic : 0;
}

CostModel::Parts CostModel::parts(Collective collective, Carrier carrier, double payload_bytes,
                                  const GroupLayout& layout) const {
  const LevelLoads loads = level_loads(collective, carrier, payload_bytes, layout, links_.inside);
  const std::int64_t together = members_in_node(layout, links_.inside);
  const double senders =
      collective == Collective::kPointToPoint ? 1 : static_cast<double>(together);
  Parts parts;
  for (int i = 0; i <= layout.span; ++i) {
    const Link& link = links_.levels[i];
    const double sharers = static_cast<double>(std::max<std::int64_t>(1, layout.sharers[i]));
    if (i < links_.inside) {
      parts.inside_s = std::max(parts.inside_s, loads[i].bytes * sharers * link.s_per_byte);
      parts.inside_hops_s += loads[i].messages * link.latency_s;
    } else {
      const double slowest = std::max(sharers * link.s_per_byte, links_.nic_s_per_byte / senders);
      parts.network_s = std::max(parts.network_s, loads[i].bytes * slowest);
      parts.network_hops_s += loads[i].messages * link.latency_s;
    }
  }
  parts.inside_s /= inside_share(collective, together);
  parts.network_s /= links_.network_share;
  return parts;
}

/// Hops of an all-reduce along a tree of nodes with a chain in each: up and down.
double CostModel::tree_hops_s(const GroupLayout& layout) const {
  const std::int64_t together = members_in_node(layout, links_.inside);
  const std::int64_t nodes = nodes_of(layout, links_.inside);
  double hops_s = 0;
  if (together > 1) {
    const double latency = links_.levels[links_.inside - 1].latency_s;
    hops_s += constants::kFastHop.value * static_cast<double>(together - 1) * latency;
  }
  if (nodes > 1) hops_s += ceil_log2(nodes) * links_.levels[layout.span].latency_s;
  return 2 * hops_s;
}

OperatorTime CostModel::message(OperatorKind kind, double payload_bytes, const GroupLayout& layout,
                                Algorithm algorithm) const {
  if (layout.span < 0) return {};
  const Collective collective = collective_of(kind);
  const bool staged = algorithm == Algorithm::kTwoLevel && collective != Collective::kAllToAll &&
                      collective != Collective::kPointToPoint && layout.span >= links_.inside &&
                      members_in_node(layout, links_.inside) > 1;
  Parts time =
      parts(collective, staged ? Carrier::kTwoLevel : Carrier::kRing, payload_bytes, layout);
  if (collective == Collective::kAllToAll) {
    time.inside_hops_s *= constants::kPeer.value;
    time.network_hops_s *= constants::kPeer.value;
  }
  const double bytes_s =
      staged ? time.inside_s + time.network_s : std::max(time.inside_s, time.network_s);
  double fast_hops_s = constants::kFastHop.value * time.inside_hops_s + time.network_hops_s;
  double stages = staged ? 2 : 1;
  if (collective == Collective::kAllReduce) {
    fast_hops_s = std::min(fast_hops_s, tree_hops_s(layout));
    if (staged) stages = 3;
  }
  const double full_s = stages * kMicro * constants::kStart.value + time.inside_hops_s +
                        time.network_hops_s + bytes_s;
  const double fast_s = stages * kMicro * constants::kFastStart.value + fast_hops_s +
                        bytes_s / constants::kFastRate.value;
  const bool outside = layout.span >= links_.inside && time.network_s >= time.inside_s;
  return {std::min(full_s, fast_s), outside ? LinkClass::kNetwork : LinkClass::kInside};
}

}  // namespace stepwright
