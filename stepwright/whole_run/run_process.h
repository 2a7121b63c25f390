#pragma once

#include <array>
#include <cstdint>

#include "stepwright/core/named.h"

namespace stepwright::whole_run {

/// The steps of a run and everything that happens between them: evaluations, checkpoints, failures.
struct RunProcess {
  std::int64_t steps = 1;
  double step_s = 0;  ///< Predicted seconds of a step.
  /// Additional seconds of each step, spent waiting for the slowest device.
  double straggling_s = 0;
  double evaluation_s = 0;            ///< Seconds of one evaluation.
  std::int64_t evaluation_every = 1;  ///< Number of steps between evaluations.
  /// Number of steps between checkpoints; one more checkpoint follows the last step.
  std::int64_t checkpoint_every = 1;
  double failures_per_s = 0;  ///< Failures per second of all devices in use; 0: none fails.
  double restart_s = 0;
  double copy_s = 0;   ///< Seconds to copy a checkpoint, while no step runs.
  double write_s = 0;  ///< Seconds to write a checkpoint, while steps run.
  double repair_s = 0;
  std::int64_t spare_nodes = 0;
};

/// The causes by which a run takes longer than its predicted steps.
enum class RunLoss : std::uint8_t {
  kStragglers,
  kEvaluation,
  kCheckpoints,  ///< Copies, exposed writes, and the wait for one write before the next copy.
  kRestarts,
  /// Work since the last saved checkpoint that a failure destroys and that is repeated.
  kLostWork,
  kWaiting  ///< Waiting for a repair because no spare node is left.
};
inline constexpr int kRunLosses = 6;
inline constexpr Named<RunLoss> kRunLossNames[] = {
    {RunLoss::kStragglers, "stragglers"},   {RunLoss::kEvaluation, "evaluation"},
    {RunLoss::kCheckpoints, "checkpoints"}, {RunLoss::kRestarts, "restarts"},
    {RunLoss::kLostWork, "lost_work"},      {RunLoss::kWaiting, "waiting"}};

/// The time from the first step to the end of the last checkpoint, averaged over runs.
struct RunTime {
  double wall_s = 0;
  double deviation_s = 0;  ///< Standard deviation over runs, in seconds.
  double failures = 0;
  /// Seconds lost by cause; together with the predicted steps they sum to `wall_s`.
  std::array<double, kRunLosses> losses_s{};

  /// Returns the seconds of a run without failures.
  [[nodiscard]] double planned_s() const;
};

/// Fails with `kInput` if failures come faster than steps, or if fewer than one attempt in a
/// thousand reaches the next checkpoint.
void check_that_it_ends(const RunProcess& process);

/// Returns the time of a run in closed form: cycles between checkpoints (`renewal.h`), then waiting
/// for repairs (`spares.h`). It is exact if evaluations are spread evenly over the steps and if
/// waiting is as frequent as in the long run (a real run starts with all its spares). Fails with
/// `kInput` if failures come so fast that the time cannot be computed.
RunTime run_time(const RunProcess& process);

/// Returns the number of steps between checkpoints that makes a run shortest; without failures, all
/// steps.
std::int64_t best_checkpoint_every(const RunProcess& process);

}  // namespace stepwright::whole_run
