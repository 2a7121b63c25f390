#pragma once

#include <array>
#include <cstdint>

#include "stepwright/core/named.h"

namespace stepwright::whole_run {

/// The steps of a run and all that goes on between them.
struct RunProcess {
  std::int64_t steps = 1;
  double step_s = 0;  ///< Predicted seconds of a step.
  /// Seconds that a step waits for the slowest device beyond that.
  double straggling_s = 0;
  double evaluation_s = 0;            ///< Seconds of one evaluation.
  std::int64_t evaluation_every = 1;  ///< Steps between two evaluations.
  /// Steps between two checkpoints; one more follows the last step.
  std::int64_t checkpoint_every = 1;
  double failures_per_s = 0;  ///< Failures of all devices in use together; 0: none fails.
  double restart_s = 0;
  double copy_s = 0;   ///< Seconds of copying a checkpoint, while no step runs.
  double write_s = 0;  ///< Seconds of writing a checkpoint, beside steps.
  double repair_s = 0;
  std::int64_t spare_nodes = 0;
};

/// Where the time of a run goes beside steps as predicted.
enum class RunLoss : std::uint8_t {
  kStragglers,
  kEvaluation,
  kCheckpoints,  ///< Copies, exposed writes, waiting for a write before the next copy.
  kRestarts,
  kLostWork,  ///< Done since the last checkpoint that counts, so that it is done again.
  kWaiting    ///< Waiting for a repair: no spare node is left.
};
inline constexpr int kRunLosses = 6;
inline constexpr Named<RunLoss> kRunLossNames[] = {
    {RunLoss::kStragglers, "stragglers"},   {RunLoss::kEvaluation, "evaluation"},
    {RunLoss::kCheckpoints, "checkpoints"}, {RunLoss::kRestarts, "restarts"},
    {RunLoss::kLostWork, "lost_work"},      {RunLoss::kWaiting, "waiting"}};

/// The time from the first step to the end of the last checkpoint, in the mean over runs.
struct RunTime {
  double wall_s = 0;
  double deviation_s = 0;  ///< Standard deviation over runs.
  double failures = 0;
  /// Seconds lost, by cause; with the steps they sum to `wall_s`.
  std::array<double, kRunLosses> losses_s{};

  /// Time of a run in which nothing fails.
  [[nodiscard]] double planned_s() const;
};

/// Fails with `kInput` where failures come faster than steps, or so fast that fewer than one
/// attempt in a thousand reaches the next checkpoint.
void check_that_it_ends(const RunProcess& process);

/// In closed form: cycles between checkpoints (`renewal.h`), then the waiting for repairs
/// (`spares.h`). Exact where evaluations are dealt out evenly over steps, and where waiting is as
/// in the long run: a run begins with all its spares. Fails with `kInput` where failures come so
/// fast that the time cannot be counted.
RunTime run_time(const RunProcess& process);

/// Steps between checkpoints that make a run shortest; all of them where none fails.
std::int64_t best_checkpoint_every(const RunProcess& process);

}  // namespace stepwright::whole_run
