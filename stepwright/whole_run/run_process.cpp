#include "stepwright/whole_run/run_process.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stepwright/core/error.h"
#include "stepwright/whole_run/duration.h"
#include "stepwright/whole_run/renewal.h"
#include "stepwright/whole_run/spares.h"

namespace stepwright::whole_run {
namespace {

/// The mean number of failures during an attempt to reach the next checkpoint at which one attempt
/// in a thousand succeeds; more is refused.
constexpr double kMostFailures = 7;
/// Above this value, exponentials no longer fit into a double.
constexpr double kMostCounted = 300;

RenewalProcess renewal_of(const TrainingRunParameters& process) {
  return {.failures_per_s = process.failures_per_s,
          .restart_s = process.restart_s,
          .copy_s = process.copy_s,
          .write_s = process.write_s};
}

/// Returns the seconds of a step plus its share of an evaluation.
double step_work_s(const TrainingRunParameters& process) {
  return process.step_s + process.straggling_s +
         process.evaluation_s / static_cast<double>(process.evaluation_every);
}

double work_between_checkpoints_s(const TrainingRunParameters& process) {
  return step_work_s(process) *
         static_cast<double>(std::min(process.checkpoint_every, process.steps));
}

void check_failures(const TrainingRunParameters& process, double most) {
  const double rate = process.failures_per_s;
  const double step = process.step_s + process.straggling_s;
  if (rate * step >= 1) {
    fail_input(fmt::format(
        "failures come faster than steps: one every {}, and a step takes {}; the devices must fail "
        "less often",
        duration_text(1 / rate), duration_text(step)));
  }
  const double work = work_between_checkpoints_s(process);
  const double checkpoint = process.copy_s + process.write_s;
  const double attempt = process.restart_s + work + checkpoint;
  if (rate * attempt > most) {
    fail_input(fmt::format(
        "no run would end: from a failure to the next checkpoint {} pass (restart {}, steps {}, "
        "checkpoint {}), and a failure comes every {}; restarts, checkpoints or the time between "
        "them must be shorter",
        duration_text(attempt), duration_text(process.restart_s), duration_text(work),
        duration_text(checkpoint), duration_text(1 / rate)));
  }
}

/// A number of equal cycles.
struct Cycles {
  double number = 0;
  SaveCycleTime each;
};

/// Returns the cycles of a run: the first, the whole ones after it, and the incomplete last one.
std::array<Cycles, 3> cycles_of(const TrainingRunParameters& process) {
  const RenewalProcess renewal = renewal_of(process);
  const double step = step_work_s(process);
  const std::int64_t every = std::min(process.checkpoint_every, process.steps);
  const std::int64_t whole = process.steps / every;
  const std::int64_t left = process.steps % every;
  const double work = step * static_cast<double>(every);
  return {{{1, first_save_cycle_time(renewal, work)},
           {static_cast<double>(whole - 1), time_between_saved_states(renewal, work)},
           {left > 0 ? 1.0 : 0.0,
            time_between_saved_states(renewal, step * static_cast<double>(left))}}};
}

/// Adds the wait for repairs to a run that so far always has its nodes.
void add_waiting(TrainingRunTime& time, const TrainingRunParameters& process,
                 double failure_free_s) {
  const TrainingNodePool pool{.failures_per_s = process.failures_per_s,
                              .repair_s = process.repair_s,
                              .spares = process.spare_nodes};
  const double share = time_share_waiting_for_node_repairs(pool);
  const double running = time.wall_s;
  time.wall_s = running / (1 - share);
  time.losses_s[static_cast<std::size_t>(RunTimeLossCause::kWaiting)] = time.wall_s - running;
  time.deviation_s = std::sqrt(
      std::pow(time.deviation_s / (1 - share), 2) +
      time_variance_of_node_repairs_s2(pool, running, (running - failure_free_s) / running));
}

}  // namespace

double TrainingRunTime::failure_free_s() const {
  double time_s = wall_s;
  for (const RunTimeLossCause loss :
       {RunTimeLossCause::kRestarts, RunTimeLossCause::kLostWork, RunTimeLossCause::kWaiting}) {
    time_s -= losses_s[static_cast<std::size_t>(loss)];
  }
  return time_s;
}

void check_failures_let_run_end(const TrainingRunParameters& process) {
  check_failures(process, kMostFailures);
}

TrainingRunTime mean_whole_run_time(const TrainingRunParameters& process) {
  const auto steps = static_cast<double>(process.steps);
  const double work = steps * step_work_s(process);
  check_failures(process, kMostCounted);
  TrainingRunTime time;
  double planned = 0;
  double variance = 0;
  for (const Cycles& cycles : cycles_of(process)) {
    planned += cycles.number * cycles.each.failure_free_s;
    time.wall_s += cycles.number * cycles.each.mean_s;
    variance += cycles.number * cycles.each.variance_s2;
  }
  const auto loss = [&](RunTimeLossCause which) -> double& {
    return time.losses_s[static_cast<std::size_t>(which)];
  };
  time.failures = time.wall_s * process.failures_per_s;
  loss(RunTimeLossCause::kStragglers) = steps * process.straggling_s;
  loss(RunTimeLossCause::kEvaluation) = work - steps * (process.step_s + process.straggling_s);
  loss(RunTimeLossCause::kCheckpoints) = planned - work;
  // A restart ends after its full time, or with the next failure.
  loss(RunTimeLossCause::kRestarts) =
      time.wall_s * -std::expm1(-process.failures_per_s * process.restart_s);
  loss(RunTimeLossCause::kLostWork) =
      std::max(0.0, time.wall_s - planned - loss(RunTimeLossCause::kRestarts));
  time.deviation_s = std::sqrt(variance);
  add_waiting(time, process, planned);
  return time;
}

std::int64_t best_checkpoint_interval_steps(const TrainingRunParameters& process) {
  const RenewalProcess renewal = renewal_of(process);
  const double step = step_work_s(process);
  const double best = best_work_between_saves_s(renewal) / step;
  if (best >= static_cast<double>(process.steps)) return process.steps;
  const auto below = std::max<std::int64_t>(1, static_cast<std::int64_t>(best));
  const auto time_of_work = [&](std::int64_t every) {
    const double work = step * static_cast<double>(every);
    return time_between_saved_states(renewal, work).mean_s / work;
  };
  const std::int64_t above = std::min(below + 1, process.steps);
  return time_of_work(above) < time_of_work(below) ? above : below;
}

}  // namespace stepwright::whole_run
