#include "stepwright/step/rough_seconds.h"

#include <algorithm>

#include "stepwright/step/work.h"

namespace stepwright::step {
namespace {

constexpr double kComputeShare = 0.5;
constexpr double kMemoryShare = 0.75;
/// Rate used if none is given, so that seconds stay finite.
constexpr double kLeastRate = 1;
/// Least seconds of a kernel or a message.
constexpr double kLeastSeconds = 5e-6;

double peak_of(const cluster::DeviceModel& device, DType type) {
  const auto found = device.peak_flops.find(type);
  if (found != device.peak_flops.end()) return found->second;
  return device.peak_flops.empty() ? kLeastRate : device.peak_flops.begin()->second;
}

}  // namespace

RoughOperatorSeconds::RoughOperatorSeconds(const plan::Job& job, const plan::RankGrid& grid)
    : device_(&job.cluster.device) {
  for (int kind = 0; kind < plan::kGroupKinds; ++kind) {
    const cluster::GroupLayout layout = plan::rank_group_network_layout(
        job.cluster, grid.communicator_shape(static_cast<plan::CommunicatorKind>(kind)));
    if (layout.size <= 1 || layout.span < 0) continue;
    const auto at = static_cast<std::size_t>(kind);
    const auto level = static_cast<std::size_t>(layout.span);
    const auto sharers = static_cast<double>(std::max<std::int64_t>(1, layout.sharers[level]));
    link_bytes_per_s_[at] =
        std::max(kLeastRate, job.cluster.levels[level].uplink_bytes_per_s / sharers);
    passed_[at] = 1 - 1 / static_cast<double>(layout.size);
  }
}

double RoughOperatorSeconds::operator()(const Operator& op) const {
  if (is_communication(op.kind)) {
    const auto at = static_cast<std::size_t>(op.group);
    if (link_bytes_per_s_[at] <= 0) return 0;
    const double bytes = static_cast<double>(op.payload_bytes()) * op.repeats;
    return kLeastSeconds + passed_[at] * bytes / link_bytes_per_s_[at];
  }
  const double memory_rate =
      std::max(kLeastRate, kMemoryShare * device_->memory_bandwidth_bytes_per_s);
  const double compute_rate = std::max(kLeastRate, kComputeShare * peak_of(*device_, op.dtype));
  return kLeastSeconds + op.repeats * std::max(operator_flops(op) / compute_rate,
                                               device_memory_traffic_bytes(op) / memory_rate);
}

}  // namespace stepwright::step
