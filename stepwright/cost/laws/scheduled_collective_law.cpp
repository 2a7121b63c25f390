#include "stepwright/cost/laws/scheduled_collective_law.h"

#include "stepwright/collective/definition.h"

namespace stepwright::cost {

OperatorTime ScheduledCollectiveLaw::collective_time_by_schedule(
    collective::CollectiveAlgorithm method, collective::CollectiveOperation collective,
    double payload_bytes, const GroupNodePlacement& group) const {
  const auto ranks_of_node = static_cast<double>(group.members * group.groups);
  const std::int64_t inside_ranks =
      group.members - (collective::definition_of(method).one_leaves ? 1 : 0);
  const double on_nic = own_nics ? 1 : ranks_of_node;
  const collective::GroupLinkRates links{
      .members = static_cast<std::int32_t>(group.members),
      .nodes = static_cast<std::int32_t>(group.nodes),
      .inside_s_per_byte = inside_s_per_byte * static_cast<double>(inside_ranks * group.groups),
      .rail_s_per_byte = network_s_per_byte * on_nic,
      .lone_s_per_byte = network_s_per_byte * (own_nics ? 1 : static_cast<double>(group.groups)),
      .network_latency_s = network_hop_s,
      .message_s = message_s};
  const double block = payload_bytes / static_cast<double>(group.size());
  const collective::CollectiveScheduleSpec spec{
      method,
      collective,
      {links.members, links.nodes},
      collective::message_chunks_per_block(block, chunk_bytes)};
  const double inside_s = static_cast<double>(group.members - 1) * links.inside_s_per_byte;
  const double network_s = (1 - 1.0 / static_cast<double>(group.nodes)) * links.rail_s_per_byte;
  return {start_s + collective::closed_form_collective_seconds(spec, links, payload_bytes),
          network_s >= inside_s / static_cast<double>(group.members) ? LinkClass::kNetwork
                                                                     : LinkClass::kInside};
}

}  // namespace stepwright::cost
