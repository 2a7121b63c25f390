#pragma once

#include <array>
#include <cstdint>

#include "stepwright/core/named.h"

namespace stepwright::whole_run {

/// A whole training run as numbers: its steps, and the times of evaluations, checkpoints, failures
/// and repairs between them.
struct TrainingRunParameters {
  std::int64_t steps = 1;
  double step_s = 0;  ///< Predicted seconds of one training step.
  /// Additional seconds of each step in which all devices wait for the slowest.
  double straggling_s = 0;
  double evaluation_s = 0;            ///< Seconds of one evaluation.
  std::int64_t evaluation_every = 1;  ///< Number of training steps between evaluations.
  /// Number of training steps between checkpoints; one more checkpoint follows the last step.
  std::int64_t checkpoint_every = 1;
  double failures_per_s = 0;  ///< Failures per second of all devices in use together; 0: none.
  double restart_s = 0;
  /// Seconds to copy a checkpoint from the devices' memory, during which training stops.
  double copy_s = 0;
  double write_s = 0;  ///< Seconds to write a checkpoint to storage, during which training goes on.
  double repair_s = 0;
  std::int64_t spare_nodes = 0;
};

/// The causes that make a whole run longer than its predicted steps.
enum class RunTimeLossCause : std::uint8_t {
  kStragglers,
  kEvaluation,
  /// Checkpoints: copying, writing where training waits for it, and waiting for the previous write.
  kCheckpoints,
  kRestarts,
  /// Repeating the work since the last checkpoint, which a failure destroyed.
  kLostWork,
  kWaiting  ///< Waiting for the repair of a node because no spare is left.
};
inline constexpr int kRunLosses = 6;
inline constexpr Named<RunTimeLossCause> kRunLossNames[] = {
    {RunTimeLossCause::kStragglers, "stragglers"},   {RunTimeLossCause::kEvaluation, "evaluation"},
    {RunTimeLossCause::kCheckpoints, "checkpoints"}, {RunTimeLossCause::kRestarts, "restarts"},
    {RunTimeLossCause::kLostWork, "lost_work"},      {RunTimeLossCause::kWaiting, "waiting"}};

/// The wall-clock time of a whole training run, from the first step to the end of the last
/// checkpoint, averaged over random failures.
struct TrainingRunTime {
  double wall_s = 0;
  /// Standard deviation of the wall-clock time over random failures, in seconds.
  double deviation_s = 0;
  double failures = 0;
  /// Seconds lost by cause; with the time of the predicted steps they add up to `wall_s`.
  std::array<double, kRunLosses> losses_s{};

  /// Returns the seconds that the run would take without failures.
  [[nodiscard]] double failure_free_s() const;
};

/// Fails with `kInput` if a training run would practically never end: failures come faster than
/// steps, or fewer than one attempt in a thousand reaches the next checkpoint.
void check_failures_let_run_end(const TrainingRunParameters& process);

/// Returns the mean time of a whole training run by closed-form formulas: cycles between
/// checkpoints, then waiting for repairs. Exact if evaluations are spread evenly and if waiting is
/// as frequent as in the long run (a real run starts with all its spares). Fails with `kInput` if
/// failures come too fast to compute.
TrainingRunTime mean_whole_run_time(const TrainingRunParameters& process);

/// Returns the number of training steps between checkpoints that makes a whole run shortest; all
/// steps if nothing fails.
std::int64_t best_checkpoint_interval_steps(const TrainingRunParameters& process);

}  // namespace stepwright::whole_run
