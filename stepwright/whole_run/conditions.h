#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/cluster/cluster.h"
#include "stepwright/plan/run_settings.h"

namespace stepwright::whole_run {

/// A figure and where it lies four times of five: all three are equal where a person states it.
struct Range {
  double value = 0;
  double low = 0;
  double high = 0;
};

/// All that is known of a run beside its steps: what a person states, and assumptions elsewhere.
struct RunConditions {
  Range failures_per_device_s;
  Range restart_s;
  double repair_s = 0;  ///< 0: another node is there at once.
  std::int64_t spare_nodes = 0;
  plan::CheckpointWriting checkpoints = plan::CheckpointWriting::kExposed;
  double storage_bytes_per_s = 0;
  double host_copy_bytes_per_s = 0;  ///< Bandwidth of the copies of asynchronous checkpoints.
  /// Seconds between checkpoints; nullopt: the best interval.
  std::optional<double> checkpoint_interval_s;
  double straggler_spread = 0;
  /// Assumptions in the place of what nobody states, for people, each with its source.
  std::vector<std::string> assumed;
};

/// The conditions of a run on all devices of a cluster. What is assumed:
/// - failures: one in 50,676 device-hours, 419 unexpected interruptions of 16,384 devices in 54
///   days (Llama 3, arXiv 2407.21783, section 3.3.4); from 29,538 to 82,051, as 6.50 and 2.34
///   failures per 1,000 days of nodes of 8 (RSC-1 and RSC-2, arXiv 2410.21680);
/// - restarts: 10 minutes, from 5 to 20 (arXiv 2410.21680, initialisation after a failure);
/// - storage: 2 TB/s of 16,384 devices (the same paper, section 3.3.1: sustained), in proportion;
/// - copies to the host: what copies attain of the link that the device states
///   (`constants::kHostLinkShare`); 20 GB/s, two thirds of a PCIe 4.0 x16 link, where it states
///   none.
RunConditions run_conditions(const plan::RunSettings& settings, const cluster::Cluster& cluster);

}  // namespace stepwright::whole_run
