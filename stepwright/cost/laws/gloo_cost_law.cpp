#include "stepwright/cost/laws/gloo_cost_law.h"

#include <algorithm>

namespace stepwright::cost {
namespace {

double count(std::int64_t number) { return static_cast<double>(number); }

/// Returns how often each byte of the buffer goes round the ring.
double rounds(collective::CollectiveOperation collective) {
  return collective == collective::CollectiveOperation::kAllGather ? 1 : 2;
}

}  // namespace

GroupNodePlacement group_node_placement(const cluster::GroupLayout& layout, int node_levels,
                                        std::int64_t devices) {
  const std::int64_t members = collective::group_members_per_node(layout, node_levels);
  return {.nodes = collective::group_node_count(layout, node_levels),
          .members = members,
          .groups = std::max<std::int64_t>(1, devices / members)};
}

GlooMessageLoads socket_loads(collective::CollectiveOperation collective, double payload_bytes,
                              const GroupNodePlacement& group) {
  const double ranks = count(group.size());
  const double groups = count(group.groups);
  const double members = count(group.members);
  const bool leaves = group.nodes > 1;
  if (collective == collective::CollectiveOperation::kAllToAll) {
    return {.steps = 1,
            .hops = ranks - 1,
            .block_bytes = payload_bytes / ranks,
            .inside_messages = groups * members * (members - 1),
            .network_messages = groups * members * (ranks - members),
            .network_senders = groups * members};
  }
  const bool transfer = collective == collective::CollectiveOperation::kPointToPoint;
  const double steps = transfer ? 1 : rounds(collective) * (ranks - 1);
  const double edges = leaves || group.members == 1 ? members - 1 : members;
  return {.steps = steps,
          .hops = steps,
          .block_bytes = transfer ? payload_bytes : payload_bytes / ranks,
          .inside_messages = groups * edges,
          .network_messages = leaves ? groups : 0,
          .network_senders = groups};
}

OperatorTime GlooCostLaw::time(const GlooMessageLoads& loads) const {
  if (loads.steps == 0) return {};
  const double inside_s = loads.inside_messages * loads.block_bytes * inside_s_per_byte;
  const double together = loads.network_messages / (own_nics ? loads.network_senders : 1);
  const double network_s = together * loads.block_bytes * network_s_per_byte;
  const bool leaves = loads.network_messages > 0;
  const double hops_s = (leaves ? network_hop_s : hop_s) * loads.hops / loads.steps;
  const double block_s = loads.block_bytes * (leaves ? network_s_per_byte : inside_s_per_byte);
  return {start_s + loads.steps * std::max({inside_s, network_s, block_s + hops_s / 2, hops_s}),
          leaves && network_s >= inside_s ? LinkClass::kNetwork : LinkClass::kInside};
}

}  // namespace stepwright::cost
