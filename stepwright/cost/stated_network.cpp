#include "stepwright/cost/stated_network.h"

#include <cmath>

#include "stepwright/cluster/layout.h"
#include "stepwright/cost/collective_routes.h"

namespace stepwright::cost {
namespace {

constexpr double kMostSlowdown = 1e6;

/// Returns the factor, at least 1, by which transfers on the network must be slower than without
/// congestion for `message_times_by_route` to take `target_s`.
double slowdown(const MessageRouteTimes& routes, CollectiveOperationConstants constants,
                double target_s) {
  constants.congestion = 0;
  const auto slow_s = [&](double factor) {
    MessageRouteTimes slow = routes;
    for (MessageRouteTime* route : {&slow.ring, &slow.tree, &slow.switches})
      route->network_s *= factor;
    return message_seconds_by_algorithm(slow, constants);
  };
  double low = 0;
  double high = std::log(kMostSlowdown);
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (slow_s(std::exp(middle)) < target_s ? low : high) = middle;
  }
  return std::exp(low);
}

}  // namespace

MachineCollectiveConstants fit_congestion_to_stated_bandwidth(
    const cluster::Cluster& cluster, MachineCollectiveConstants constants) {
  if (cluster.all_reduce_bytes_per_s == 0 || cluster.nodes == 1) return constants;
  const std::int64_t devices = cluster.devices();
  const MessageRouteTimes routes = ClusterLineRates(cluster).message_times_by_route(
      {collective::CollectiveOperation::kAllReduce, kStatedBandwidthBufferBytes,
       cluster::network_layout_of_strided_group(cluster, devices, 1)});
  const double target_s =
      collective::bytes_sent_by_each_rank(collective::CollectiveOperation::kAllReduce,
                                          kStatedBandwidthBufferBytes, devices) /
      cluster.all_reduce_bytes_per_s;
  const double slower =
      slowdown(routes, constants.of(collective::CollectiveOperation::kAllReduce), target_s);
  for (CollectiveOperationConstants& operation : constants.operations) {
    if (routes.crowd > 1) {
      operation.congestion = std::log(slower) / std::log(routes.crowd);
    } else {
      operation.network_share /= slower;
      operation.tree_share /= slower;
    }
  }
  return constants;
}

}  // namespace stepwright::cost
