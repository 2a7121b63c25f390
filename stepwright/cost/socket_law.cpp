#include "stepwright/cost/socket_law.h"

#include <algorithm>
#include <array>

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
  const double members = count(group.members);
  const bool leaves = group.nodes > 1;
  if (collective == Collective::kAllToAll) {
    return {.steps = 1,
            .hops = ranks - 1,
            .block_bytes = payload_bytes / ranks,
            .inside_messages = groups * members * (members - 1),
            .network_messages = groups * members * (ranks - members)};
  }
  const bool transfer = collective == Collective::kPointToPoint;
  const double steps = transfer ? 1 : rounds(collective) * (ranks - 1);
  const double edges = leaves || group.members == 1 ? members - 1 : members;
  return {.steps = steps,
          .hops = steps,
          .block_bytes = transfer ? payload_bytes : payload_bytes / ranks,
          .inside_messages = groups * edges,
          .network_messages = leaves ? groups : 0};
}

namespace {

/// Seconds of a step by what may set its pace.
std::array<double, 3> step_seconds(const SocketLaw& law, const SocketLoads& loads) {
  const bool leaves = loads.network_messages > 0;
  const double hop_s = leaves ? law.network_hop_s : law.hop_s;
  const double s_per_byte = leaves ? law.network_s_per_byte : law.inside_s_per_byte;
  return {hop_s * loads.hops / loads.steps + loads.block_bytes * s_per_byte,
          loads.inside_messages * loads.block_bytes * law.inside_s_per_byte,
          loads.network_messages * loads.block_bytes * law.network_s_per_byte};
}

}  // namespace

SocketPace SocketLaw::pace(const SocketLoads& loads) const {
  const std::array<double, 3> by = step_seconds(*this, loads);
  return static_cast<SocketPace>(std::ranges::max_element(by) - by.begin());
}

OperatorTime SocketLaw::time(const SocketLoads& loads) const {
  if (loads.steps == 0) return {};
  const std::array<double, 3> by = step_seconds(*this, loads);
  return {start_s + loads.steps * std::ranges::max(by),
          loads.network_messages > 0 && by[2] >= by[1] ? LinkClass::kNetwork : LinkClass::kInside};
}

}  // namespace stepwright
