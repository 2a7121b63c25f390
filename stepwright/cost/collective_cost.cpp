#include "stepwright/cost/collective_cost.h"

#include <utility>

#include "stepwright/cost/collective_profiles.h"

namespace stepwright {

Collective collective_of(OperatorKind kind) {
  switch (kind) {
    case OperatorKind::kAllReduce: return Collective::kAllReduce;
    case OperatorKind::kAllGather: return Collective::kAllGather;
    case OperatorKind::kReduceScatter: return Collective::kReduceScatter;
    case OperatorKind::kAllToAll: return Collective::kAllToAll;
    default: return Collective::kPointToPoint;
  }
}

CollectiveCost::CollectiveCost(const Cluster& cluster)
    : CollectiveCost(cluster, collectives_of(cluster)) {}

CollectiveCost::CollectiveCost(const Cluster& cluster, CollectiveConstants constants)
    : constants_(std::move(constants)), rates_(cluster) {}

OperatorTime CollectiveCost::message(const CollectiveMessage& message) const {
  if (message.layout.span < 0) return {};
  const Routes routes = rates_.routes(message);
  const OperationConstants& constants = constants_.of(message.collective);
  return {stepwright::seconds(routes, constants),
          outside(routes, constants) ? LinkClass::kNetwork : LinkClass::kInside};
}

}  // namespace stepwright
