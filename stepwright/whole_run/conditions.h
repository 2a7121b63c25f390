#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/cluster/cluster.h"
#include "stepwright/plan/run_settings.h"

namespace stepwright::whole_run {

/// A number with the interval, from `low` to `high`, that contains it with a probability of 80 %;
/// all three are equal if the user states the number.
struct EstimateWithInterval {
  double value = 0;
  double low = 0;
  double high = 0;
};

/// Conditions that determine the length of a whole training run besides its steps (failures,
/// restarts, storage): values stated by the user, else assumptions.
struct TrainingRunConditions {
  EstimateWithInterval failures_per_device_s;
  EstimateWithInterval restart_s;
  /// Mean seconds until a failed node is repaired; 0: another node replaces it at once.
  double repair_s = 0;
  std::int64_t spare_nodes = 0;
  plan::CheckpointWriting checkpoints = plan::CheckpointWriting::kExposed;
  double storage_bytes_per_s = 0;
  /// Bytes/s at which an asynchronous checkpoint is copied from a device to host memory.
  double host_copy_bytes_per_s = 0;
  /// Seconds between checkpoints that the user states; nullopt: use the best interval.
  std::optional<double> checkpoint_interval_s;
  double straggler_spread = 0;
  /// Sentences for the user about the values that were assumed, each with its source.
  std::vector<std::string> assumed;
};

/// Returns the conditions of a run on all devices of a cluster. Values that `settings` lacks are
/// assumed:
/// - failures: one in 50,676 device-hours, 419 unexpected interruptions of 16,384 devices in 54
/// days
///   (Llama 3, arXiv 2407.21783, section 3.3.4); range 29,538 to 82,051, from 6.50 and 2.34
/// failures
///   per 1,000 days of nodes of 8 (RSC-1 and RSC-2, arXiv 2410.21680);
/// - restarts: 10 minutes, from 5 to 20 (arXiv 2410.21680, initialisation after a failure);
/// - storage: 2 TB/s for 16,384 devices (arXiv 2407.21783, section 3.3.1: sustained), scaled to the
///   number of devices;
/// - copies to the host: the share of the device's stated host link that copies reach
///   (`constants::kHostLinkShare`); 20 GB/s, two thirds of a PCIe 4.0 x16 link, if none is stated.
TrainingRunConditions run_conditions(const plan::TrainingRunSettings& settings,
                                     const cluster::Cluster& cluster);

}  // namespace stepwright::whole_run
