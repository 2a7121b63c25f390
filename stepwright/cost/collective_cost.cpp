#include "stepwright/cost/collective_cost.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "stepwright/collective/definition.h"
#include "stepwright/cost/profiles/collective_profiles.h"
#include "stepwright/cost/stated_network.h"

namespace stepwright::cost {

CollectiveCost::CollectiveCost(const cluster::Cluster& cluster)
    : CollectiveCost(cluster, fit_to_stated_network(cluster, collectives_of(cluster))) {}

CollectiveCost::CollectiveCost(const cluster::Cluster& cluster, CollectiveConstants constants)
    : constants_(std::move(constants)), rates_(cluster) {
  if (!constants_.of_cluster) return;
  for (std::size_t i = 0; i < measured_.size(); ++i) {
    const auto& ranges = constants_.ranges[i];
    const auto nodes = std::ranges::find(ranges, "nodes", &FittedRange::name);
    if (nodes == ranges.end()) continue;
    measured_[i][static_cast<std::size_t>(LinkClass::kInside)] = nodes->low <= 1;
    measured_[i][static_cast<std::size_t>(LinkClass::kNetwork)] = nodes->high > 1;
  }
}

OperatorTime CollectiveCost::message(const CollectiveMessage& message) const {
  if (message.layout.span < 0) return {};
  if (message.algorithm != collective::Algorithm::kLibrary &&
      collective::settled(message.algorithm, message.collective, rates_.form(message.layout)) !=
          message.algorithm) {
    return this->message({message.collective, message.payload_bytes, message.layout});
  }
  const OperationConstants& constants = constants_.of(message.collective);
  const MessageRoutes routes = rates_.routes(message);
  return {seconds(message, routes, constants),
          outside(routes, constants) ? LinkClass::kNetwork : LinkClass::kInside};
}

double CollectiveCost::seconds(const CollectiveMessage& message, const MessageRoutes& routes,
                               const OperationConstants& constants) const {
  const double alone_s = stepwright::cost::seconds(routes, constants, message.algorithm);
  if (std::isfinite(alone_s)) return alone_s;
  if (collective::in_library(message.algorithm, message.collective) ||
      collective::definition_of(message.algorithm).pattern !=
          collective::MessagePattern::kAsScheduled) {
    return stepwright::cost::seconds(routes, constants);
  }
  const collective::GroupLinkRates links = rates_.links(message, constants);
  const collective::ScheduleSpec spec{
      message.algorithm, message.collective, {links.members, links.nodes}};
  return constants.protocols.back().start_us * 1e-6 +
         collective::closed_form_seconds(
             collective::with_fastest_chunk_count(spec, links, message.payload_bytes), links,
             message.payload_bytes);
}

}  // namespace stepwright::cost
