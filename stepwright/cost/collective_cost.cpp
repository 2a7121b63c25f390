#include "stepwright/cost/collective_cost.h"

#include <algorithm>
#include <utility>

#include "stepwright/cost/collective_profiles.h"

namespace stepwright {

CollectiveCost::CollectiveCost(const Cluster& cluster)
    : CollectiveCost(cluster, collectives_of(cluster)) {}

CollectiveCost::CollectiveCost(const Cluster& cluster, CollectiveConstants constants)
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
  const Routes routes = rates_.routes(message);
  const OperationConstants& constants = constants_.of(message.collective);
  return {stepwright::seconds(routes, constants),
          outside(routes, constants) ? LinkClass::kNetwork : LinkClass::kInside};
}

}  // namespace stepwright
