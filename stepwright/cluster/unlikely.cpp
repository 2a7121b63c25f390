#include "stepwright/cluster/unlikely.h"

#include <fmt/format.h>

#include "stepwright/core/quantity.h"

namespace stepwright::cluster {
namespace {

/// The smallest and the largest value of a figure in any existing machine.
struct Usual {
  double least;
  double most;
};
constexpr Usual kUsualNic = {1e5, 1e12};
constexpr Usual kUsualLink = {1e5, 1e14};
constexpr Usual kUsualMemory = {1e8, 1e13};
constexpr Usual kUsualMemoryRate = {1e8, 1e14};
constexpr Usual kUsualPeak = {1e9, 1e18};
constexpr Usual kUsualLatency = {0, 1e-2};

class Remarks {
 public:
  void judge(const std::string& field, double value, QuantityKind quantity, Usual usual) {
    if (value >= usual.least && value <= usual.most) return;
    notes_.push_back(
        fmt::format("cluster.{} is {:g} {}, far outside the range of real hardware ({:g} to {:g}). "
                    "A number without a "
                    "unit is in {}.",
                    field, value, default_unit_of_quantity(quantity), usual.least, usual.most,
                    default_unit_of_quantity(quantity)));
  }

  [[nodiscard]] std::vector<std::string> take() { return std::move(notes_); }

 private:
  std::vector<std::string> notes_;
};

}  // namespace

std::vector<std::string> implausible_cluster_notes(const Cluster& cluster) {
  Remarks remarks;
  const DeviceModel& device = cluster.device;
  remarks.judge("device.memory", device.memory_bytes, QuantityKind::kBytes, kUsualMemory);
  remarks.judge("device.memory_bandwidth", device.memory_bandwidth_bytes_per_s, QuantityKind::kRate,
                kUsualMemoryRate);
  for (const auto& [type, rate] : device.peak_flops) {
    remarks.judge(fmt::format("device.peak.{}", name_of(kDTypeNames, type)), rate,
                  QuantityKind::kFlops, kUsualPeak);
  }
  if (cluster.nic_bytes_per_s > 0) {
    remarks.judge("nic", cluster.nic_bytes_per_s, QuantityKind::kRate, kUsualNic);
  }
  for (const NetworkLevel& level : cluster.levels) {
    if (!level.network) {
      remarks.judge(fmt::format("levels.{}.bandwidth", level.name), level.uplink_bytes_per_s,
                    QuantityKind::kRate, kUsualLink);
    }
    remarks.judge(fmt::format("{}.{}.latency", level.network ? "network" : "levels", level.name),
                  level.latency_s, QuantityKind::kTime, kUsualLatency);
  }
  return remarks.take();
}

}  // namespace stepwright::cluster
