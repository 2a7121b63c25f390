#include "stepwright/cost/collective_cost.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "stepwright/collective/definition.h"
#include "stepwright/cost/profiles/collective_profiles.h"
#include "stepwright/cost/stated_network.h"

namespace stepwright::cost {

MessageCostModel::MessageCostModel(const cluster::Cluster& cluster)
    : MessageCostModel(cluster, fit_congestion_to_stated_bandwidth(
                                    cluster, collective_constants_of_cluster(cluster))) {}

MessageCostModel::MessageCostModel(const cluster::Cluster& cluster,
                                   MachineCollectiveConstants constants)
    : constants_(std::move(constants)), rates_(cluster) {
  if (!constants_.of_cluster) return;
  for (std::size_t i = 0; i < measured_.size(); ++i) {
    const auto& ranges = constants_.ranges[i];
    const auto nodes = std::ranges::find(ranges, "nodes", &FittedSizeRange::name);
    if (nodes == ranges.end()) continue;
    measured_[i][static_cast<std::size_t>(LinkClass::kInside)] = nodes->low <= 1;
    measured_[i][static_cast<std::size_t>(LinkClass::kNetwork)] = nodes->high > 1;
  }
}

OperatorTime MessageCostModel::priced_message_time(const CollectiveMessage& message) const {
  if (message.layout.span < 0) return {};
  if (message.algorithm != collective::CollectiveAlgorithm::kLibrary &&
      collective::effective_collective_algorithm(message.algorithm, message.collective,
                                                 rates_.node_layout_of_group(message.layout)) !=
          message.algorithm) {
    return this->priced_message_time({message.collective, message.payload_bytes, message.layout});
  }
  const CollectiveOperationConstants& constants = constants_.of(message.collective);
  const MessageRouteTimes routes = rates_.message_times_by_route(message);
  return {seconds(message, routes, constants),
          is_network_bound(routes, constants) ? LinkClass::kNetwork : LinkClass::kInside};
}

double MessageCostModel::seconds(const CollectiveMessage& message, const MessageRouteTimes& routes,
                                 const CollectiveOperationConstants& constants) const {
  const double alone_s =
      stepwright::cost::message_seconds_by_algorithm(routes, constants, message.algorithm);
  if (std::isfinite(alone_s)) return alone_s;
  if (collective::library_supports_algorithm(message.algorithm, message.collective) ||
      collective::definition_of(message.algorithm).pattern !=
          collective::MessagePattern::kAsScheduled) {
    return stepwright::cost::message_seconds_by_algorithm(routes, constants);
  }
  const collective::GroupLinkRates link_rates_of_message =
      rates_.link_rates_of_message(message, constants);
  const collective::CollectiveScheduleSpec spec{
      message.algorithm,
      message.collective,
      {link_rates_of_message.members, link_rates_of_message.nodes}};
  return constants.protocols.back().start_us * 1e-6 +
         collective::closed_form_collective_seconds(
             collective::with_fastest_chunk_count(spec, link_rates_of_message,
                                                  message.payload_bytes),
             link_rates_of_message, message.payload_bytes);
}

}  // namespace stepwright::cost
