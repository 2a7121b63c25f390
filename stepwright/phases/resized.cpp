#include "stepwright/phases/resized.h"

#include <fmt/format.h>

#include "stepwright/core/error.h"
#include "stepwright/plan/laws/legality.h"
#include "stepwright/tune/used_devices.h"

namespace stepwright::phases {

cluster::Cluster cluster_with_device_count(const cluster::Cluster& cluster, std::int64_t devices) {
  const std::int64_t each = cluster.devices_per_node;
  if (devices <= each) return tune::cluster_reduced_to_devices(cluster, 1, devices);
  if (devices % each != 0) {
    fail_input(fmt::format("{} devices do not fill whole nodes of {}", devices, each));
  }
  const std::int64_t nodes = devices / each;
  cluster::Cluster result = tune::cluster_reduced_to_devices(cluster, nodes, each);
  if (nodes <= cluster.nodes) return result;
  cluster::NetworkLevel& outermost = result.levels.back();
  if (!outermost.network || outermost.uplink_bytes_per_s <= 0) {
    fail_input(fmt::format("{} devices need {} nodes, and {} has no network between nodes", devices,
                           nodes, cluster.name));
  }
  outermost.size = devices;
  return result;
}

plan::PlannedJob plan_with_device_count(const plan::PlannedJob& planned, std::int64_t devices,
                                        const char* field) {
  plan::PlannedJob other = planned;
  other.job.method.reference = other.job.method.critic = {};
  plan::ParallelismDegrees& parallel = other.plan.parallel;
  const std::int64_t whole = planned.job.cluster.devices() / parallel.data;
  if (devices % whole != 0) {
    fail_input(
        fmt::format("{}: {} devices are not a multiple of the {} that hold one model of the plan",
                    field, devices, whole));
  }
  parallel.data = devices / whole;
  other.job.cluster = cluster_with_device_count(planned.job.cluster, devices);
  const auto refused = plan::find_plan_rejection(other.job, other.plan);
  if (!refused) return other;
  // On fewer devices, sharding groups may have to be smaller.
  for (const plan::Plan& nearest : refused->nearest) {
    if (nearest.parallel != parallel || nearest.micro_batch != other.plan.micro_batch) continue;
    other.plan = nearest;
    return other;
  }
  fail_input(
      fmt::format("{}: the plan is not legal on {} devices: {}", field, devices, refused->message));
}

}  // namespace stepwright::phases
