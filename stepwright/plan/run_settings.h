#pragma once

#include <cstdint>
#include <optional>

#include "stepwright/core/named.h"

namespace stepwright::plan {

/// kExposed: no step runs while a checkpoint is written. kAsynchronous: only while it is copied to
/// the host; the file system has it later, at the latest before the next one.
enum class CheckpointWriting : std::uint8_t { kExposed, kAsynchronous };
inline constexpr Named<CheckpointWriting> kCheckpointWritingNames[] = {
    {CheckpointWriting::kExposed, "exposed"}, {CheckpointWriting::kAsynchronous, "asynchronous"}};

/// The whole run as a person states it, the mapping `run` of a job (docs/formats.md): what it
/// leaves out is assumed, and said to be (`whole_run/conditions.h`).
struct RunSettings {
  std::optional<double> tokens;              ///< Tokens to train on.
  std::optional<double> price_per_gpu_hour;  ///< Price, in any currency.
  /// Mean time to failure of a device, or what is one over it: one of the two.
  std::optional<double> device_mttf_s;
  std::optional<double> failures_per_device_hour;  ///< Failures; 0: no device fails.
  /// Seconds from a failure to the first step after it, at full speed.
  std::optional<double> restart_s;
  std::optional<double> repair_s;     ///< Seconds from a failure until its node can be used again.
  std::optional<double> spare_nodes;  ///< Spare nodes beside those in use, paid from the start.
  std::optional<CheckpointWriting> checkpoints;
  /// Bandwidth of all ranks together, for checkpoints.
  std::optional<double> storage_bytes_per_s;
  std::optional<double> host_copy_bytes_per_s;  ///< Bandwidth from one device to its host.
  /// Seconds between checkpoints; nullopt: the best interval.
  std::optional<double> checkpoint_interval_s;
  std::optional<double> evaluation;  ///< Share of the time of steps and evaluation.
  /// Instead: tokens of one evaluation, and steps from one to the next.
  std::optional<double> evaluation_tokens;
  std::optional<double> evaluation_every;
  /// Standard deviation of the time of a step over devices, as a share of it.
  std::optional<double> straggler_spread;

  bool operator==(const RunSettings&) const = default;
};

}  // namespace stepwright::plan
