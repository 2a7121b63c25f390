#pragma once

#include <cstdint>
#include <optional>

#include "stepwright/core/named.h"

namespace stepwright::plan {

/// How checkpoints are written. kExposed: no step runs while a checkpoint is written.
/// kAsynchronous: no step runs while it is copied to the host; it is written to the file system
/// later, at the latest before the next checkpoint.
enum class CheckpointWriting : std::uint8_t { kExposed, kAsynchronous };
inline constexpr Named<CheckpointWriting> kCheckpointWritingNames[] = {
    {CheckpointWriting::kExposed, "exposed"}, {CheckpointWriting::kAsynchronous, "asynchronous"}};

/// Settings of a whole run as a user states them, the mapping `run` of a job (docs/formats.md).
/// Values left out are assumed, and answers say so (`whole_run/conditions.h`).
struct RunSettings {
  std::optional<double> tokens;              ///< Tokens to train on.
  std::optional<double> price_per_gpu_hour;  ///< Price, in any currency.
  /// Seconds of a device's mean time to failure; only this or `failures_per_device_hour`, its
  /// inverse, may be set.
  std::optional<double> device_mttf_s;
  /// Failures of a device per hour; 0: no device fails.
  std::optional<double> failures_per_device_hour;
  /// Seconds from a failure to the first step after it, at full speed.
  std::optional<double> restart_s;
  /// Seconds from a failure until the failed node can be used again.
  std::optional<double> repair_s;
  /// Spare nodes in addition to those in use, paid from the start.
  std::optional<double> spare_nodes;
  std::optional<CheckpointWriting> checkpoints;
  /// Bytes per second with which all ranks together write a checkpoint.
  std::optional<double> storage_bytes_per_s;
  std::optional<double> host_copy_bytes_per_s;  ///< Bytes per second from one device to its host.
  /// Seconds between checkpoints; nullopt: the best interval.
  std::optional<double> checkpoint_interval_s;
  std::optional<double> evaluation;  ///< Evaluation's share of the time of steps and evaluation.
  /// Instead of `evaluation`: tokens of one evaluation, and steps from one evaluation to the next.
  std::optional<double> evaluation_tokens;
  std::optional<double> evaluation_every;
  /// Standard deviation of a step's time over devices, as a share of that time.
  std::optional<double> straggler_spread;

  bool operator==(const RunSettings&) const = default;
};

}  // namespace stepwright::plan
