#include "stepwright/cost/socket_law.h"

#include <algorithm>

namespace stepwright {
namespace {

double count(std::int64_t number) { return static_cast<double>(number); }

/// How often each byte of the buffer goes round the ring.
double rounds(Collective collective) { return collective == Collective::kAllGather ? 1 : 2; }

}  // namespace

SocketGroup socket_group(const GroupLayout& layout, int node_levels, std::int64_t devices) {
  const std::int64_t members = members_in_node(layout, node_levels);
  return {.nodes = nodes_of(layout, node_levels),
          .members = members,
          .groups = std::max<std::int64_t>(1, devices / members)};
}

SocketLoads socket_loads(Collective collective, double payload_bytes, const SocketGroup& group) {
  const double ranks = count(group.size());
  const double groups = count(group.groups);
  const bool leaves = group.nodes > 1;
  SocketLoads loads;
  double& hops = leaves ? loads.network_hops : loads.inside_hops;
  if (collective == Collective::kAllToAll) {
    const double sent = groups * count(group.members) * payload_bytes / ranks;
    loads.inside_bytes = sent * count(group.members - 1);
    loads.network_bytes = sent * (ranks - count(group.members));
    hops = ranks - 1;
    return loads;
  }
  double passed = payload_bytes;
  hops = 1;
  if (collective != Collective::kPointToPoint) {
    passed *= rounds(collective) * (ranks - 1) / ranks;
    hops = rounds(collective) * (ranks - 1);
  }
  const std::int64_t edges = leaves || group.members == 1 ? group.members - 1 : group.members;
  loads.inside_bytes = groups * count(edges) * passed;
  loads.network_bytes = leaves ? groups * passed : 0;
  return loads;
}

OperatorTime SocketLaw::time(const SocketLoads& loads) const {
  const double inside_s = loads.inside_bytes * inside_s_per_byte;
  const double network_s = loads.network_bytes * network_s_per_byte;
  return {
      start_s + loads.inside_hops * hop_s + loads.network_hops * network_hop_s +
          std::max(inside_s, network_s),
      network_s >= inside_s && loads.network_bytes > 0 ? LinkClass::kNetwork : LinkClass::kInside};
}

}  // namespace stepwright
