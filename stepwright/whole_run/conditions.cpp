#include "stepwright/whole_run/conditions.h"

#include <fmt/format.h>

#include <cmath>

#include "stepwright/core/format.h"
#include "stepwright/cost/laws/constants.h"
#include "stepwright/whole_run/duration.h"

namespace stepwright::whole_run {
namespace {

constexpr double kLlamaDevices = 16384;
constexpr double kLlamaHours = 54 * 24;
constexpr double kLlamaInterruptions = 419;
constexpr double kLlamaStorage = 2e12;
constexpr double kDeviceHours = kLlamaDevices * kLlamaHours / kLlamaInterruptions;
/// Device-hours in 1,000 days of nodes of 8 devices, divided by the failures in that time.
constexpr double kLeastDeviceHours = 1000 * 24 * 8 / 6.50;
constexpr double kMostDeviceHours = 1000 * 24 * 8 / 2.34;
constexpr double kRestart = 600;
constexpr double kHostCopy = 20e9;

EstimateWithInterval stated(double value) { return {value, value, value}; }

void set_failures(TrainingRunConditions& conditions, const plan::TrainingRunSettings& settings) {
  if (settings.device_mttf_s) {
    conditions.failures_per_device_s = stated(1 / *settings.device_mttf_s);
  } else if (settings.failures_per_device_hour) {
    conditions.failures_per_device_s = stated(*settings.failures_per_device_hour / kHourS);
  } else {
    conditions.failures_per_device_s = {1 / (kDeviceHours * kHourS),
                                        1 / (kMostDeviceHours * kHourS),
                                        1 / (kLeastDeviceHours * kHourS)};
    conditions.assumed.push_back(fmt::format(
        "a device fails once in {} hours (between {} and {} in 80 % of cases): 419 "
        "interruptions of 16,384 H100 in 54 days (Llama 3, arXiv 2407.21783), 6.50 and 2.34 "
        "failures in 1,000 days of nodes of 8 A100 (arXiv 2410.21680); set device_mttf to replace "
        "it",
        format_count(std::llround(kDeviceHours)), format_count(std::llround(kLeastDeviceHours)),
        format_count(std::llround(kMostDeviceHours))));
  }
}

/// Sets restart and repair times; without failures they have no effect.
void set_restart(TrainingRunConditions& conditions, const plan::TrainingRunSettings& settings) {
  conditions.spare_nodes = static_cast<std::int64_t>(settings.spare_nodes.value_or(0));
  conditions.repair_s = settings.repair_s.value_or(0);
  conditions.restart_s = settings.restart_s
                             ? stated(*settings.restart_s)
                             : EstimateWithInterval{kRestart, kRestart / 2, kRestart * 2};
  if (conditions.failures_per_device_s.value == 0) return;
  if (!settings.restart_s) {
    conditions.assumed.emplace_back(
        "a restart takes 10 minutes (between 5 and 20 in 80 % of cases; arXiv 2410.21680); set "
        "restart to replace it");
  }
  if (!settings.repair_s) {
    conditions.assumed.emplace_back(
        "another node replaces a failed one at once; set repair (its time) and spare_nodes (their "
        "number) to change this");
  }
}

void assume_host_copy(TrainingRunConditions& conditions, const cluster::Cluster& cluster) {
  const double link = cluster.device.host_link_bytes_per_s;
  conditions.host_copy_bytes_per_s =
      link > 0 ? cost::constants::kHostLinkShare.value * link : kHostCopy;
  conditions.assumed.push_back(fmt::format(
      "a device copies its part of a checkpoint to host memory at {}, {}; set host_copy to replace "
      "it",
      format_bytes_per_s(conditions.host_copy_bytes_per_s),
      link > 0 ? fmt::format("the attained rate of its link of {}", format_bytes_per_s(link))
               : "two thirds of a PCIe 4.0 x16 link"));
}

void set_checkpoints(TrainingRunConditions& conditions, const plan::TrainingRunSettings& settings,
                     const cluster::Cluster& cluster) {
  const auto devices = static_cast<double>(cluster.devices());
  conditions.checkpoints = settings.checkpoints.value_or(plan::CheckpointWriting::kExposed);
  conditions.checkpoint_interval_s = settings.checkpoint_interval_s;
  if (!settings.checkpoints) {
    conditions.assumed.emplace_back(
        "steps wait while a checkpoint is written; `checkpoints: asynchronous` hides the write");
  }
  conditions.storage_bytes_per_s =
      settings.storage_bytes_per_s.value_or(kLlamaStorage * devices / kLlamaDevices);
  if (!settings.storage_bytes_per_s) {
    conditions.assumed.push_back(
        fmt::format("checkpoints are written at {}: 2 TB/s of 16,384 devices (Llama 3, arXiv "
                    "2407.21783), in proportion to the devices; set storage to replace it",
                    format_bytes_per_s(conditions.storage_bytes_per_s)));
  }
  if (conditions.checkpoints == plan::CheckpointWriting::kExposed) return;
  if (settings.host_copy_bytes_per_s) {
    conditions.host_copy_bytes_per_s = *settings.host_copy_bytes_per_s;
  } else {
    assume_host_copy(conditions, cluster);
  }
}

}  // namespace

TrainingRunConditions run_conditions(const plan::TrainingRunSettings& settings,
                                     const cluster::Cluster& cluster) {
  TrainingRunConditions conditions;
  set_failures(conditions, settings);
  set_restart(conditions, settings);
  set_checkpoints(conditions, settings, cluster);
  if (!settings.evaluation && !settings.evaluation_tokens) {
    conditions.assumed.emplace_back("no time is spent on evaluation; set evaluation to its share");
  }
  conditions.straggler_spread = settings.straggler_spread.value_or(0);
  if (!settings.straggler_spread) {
    conditions.assumed.emplace_back(
        "devices differ in speed as in the runs to which constants were fitted; set "
        "straggler_spread to change this");
  }
  return conditions;
}

}  // namespace stepwright::whole_run
