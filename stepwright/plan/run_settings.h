#pragma once

#include <cstdint>
#include <optional>

#include "stepwright/core/named.h"

namespace stepwright::plan {

/// How checkpoints are written. kExposed: training stops until the file is written. kAsynchronous:
/// training stops only while states are copied to the host, and the file is written beside later
/// steps, at the latest before the next checkpoint.
enum class CheckpointWriting : std::uint8_t { kExposed, kAsynchronous };
inline constexpr Named<CheckpointWriting> kCheckpointWritingNames[] = {
    {CheckpointWriting::kExposed, "exposed"}, {CheckpointWriting::kAsynchronous, "asynchronous"}};

/// Settings of a whole training run that a user states (mapping `run` of a job, docs/formats.md).
/// Missing values are assumed, and answers say so (`whole_run/conditions.h`).
struct TrainingRunSettings {
  std::optional<double> tokens;  ///< Number of tokens to train on; nullopt: not stated.
  /// Price of one GPU for one hour, in any currency; nullopt: not stated.
  std::optional<double> price_per_gpu_hour;
  /// Mean time to failure of one device, in seconds; nullopt if not stated, or if its inverse
  /// `failures_per_device_hour` is.
  std::optional<double> device_mttf_s;
  /// Failures of one device per hour; 0: devices never fail; nullopt: not stated.
  std::optional<double> failures_per_device_hour;
  /// Seconds from a failure to the first step after the restart; nullopt: not stated.
  std::optional<double> restart_s;
  /// Seconds from a failure until the failed node is usable again; nullopt: a replacement is there
  /// at once.
  std::optional<double> repair_s;
  /// Number of spare nodes beside those in use, paid from the start; nullopt: not stated.
  std::optional<double> spare_nodes;
  std::optional<CheckpointWriting> checkpoints;
  /// Bytes per second with which all ranks together write a checkpoint to storage; nullopt: not
  /// stated.
  std::optional<double> storage_bytes_per_s;
  /// Bytes per second with which one device copies its states to its host for an asynchronous
  /// checkpoint; nullopt: not stated.
  std::optional<double> host_copy_bytes_per_s;
  /// Seconds between checkpoints; nullopt: the interval that loses least time.
  std::optional<double> checkpoint_interval_s;
  /// Share of the time of steps and evaluation that evaluation takes; nullopt: not stated.
  std::optional<double> evaluation;
  /// Tokens of one evaluation, stated instead of `evaluation`; nullopt: not stated.
  std::optional<double> evaluation_tokens;
  /// Number of steps from one evaluation to the next; nullopt: not stated.
  std::optional<double> evaluation_every;
  /// Standard deviation of a step's time over devices, as a share of its mean; nullopt: not stated.
  std::optional<double> straggler_spread;

  bool operator==(const TrainingRunSettings&) const = default;
};

}  // namespace stepwright::plan
