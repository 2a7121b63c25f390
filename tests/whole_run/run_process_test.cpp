#include "stepwright/whole_run/run_process.h"

#include <gtest/gtest.h>

#include <string>

#include "stepwright/core/error.h"
#include "stepwright/whole_run/simulated_run.h"

namespace stepwright::whole_run {
namespace {

constexpr std::uint64_t kSeed = 7;

/// Returns a run of ten thousand steps of ten seconds, with a failure every three hours.
TrainingRunParameters usual() {
  return {.steps = 10'000,
          .step_s = 10,
          .straggling_s = 0.25,
          .evaluation_s = 30,
          .evaluation_every = 50,
          .checkpoint_every = 100,
          .failures_per_s = 1 / 10800.0,
          .restart_s = 600,
          .copy_s = 40};
}

/// Expects the mean of simulated runs to be within four standard errors of the closed form, its
/// parts as near as parts can be, and the deviation within a tenth. Simulated runs begin with all
/// their spares, which the closed form does not take into account: this saves less than one repair.
void expect_simulated(const TrainingRunParameters& process, std::int64_t runs = 4000,
                      RepairTimeDistribution repairs = RepairTimeDistribution::kExponential) {
  const TrainingRunTime closed = mean_whole_run_time(process);
  const SimulatedRuns played = simulate_whole_runs(process, runs, kSeed, repairs);
  const double near = 4 * played.mean_wall_time_error_s() + process.repair_s;
  EXPECT_NEAR(played.mean.wall_s, closed.wall_s, near);
  EXPECT_LT(near, 0.02 * closed.wall_s) << "else the line above says nothing";
  EXPECT_NEAR(played.mean.failures, closed.failures, 0.01 * closed.failures + 0.1);
  EXPECT_NEAR(played.mean.deviation_s, closed.deviation_s, 0.1 * closed.deviation_s);
  for (std::size_t i = 0; i < closed.losses_s.size(); ++i) {
    EXPECT_NEAR(played.mean.losses_s[i], closed.losses_s[i], near) << kRunLossNames[i].name;
  }
}

TEST(TrainingRunTime, IsThatOfSimulatedRuns) { expect_simulated(usual()); }

TEST(TrainingRunTime, IsThatOfSimulatedRunsWhereMuchIsLost) {
  TrainingRunParameters process = usual();
  process.failures_per_s = 1 / 2500.0;
  process.restart_s = 1200;
  expect_simulated(process);
}

TEST(TrainingRunTime, IsThatOfSimulatedRunsWhoseWritesAreHidden) {
  TrainingRunParameters process = usual();
  process.copy_s = 2;
  process.write_s = 500;
  expect_simulated(process);
  process.write_s = 3000;  // Longer than the work of a cycle: every copy waits.
  expect_simulated(process);
  EXPECT_GT(mean_whole_run_time(process)
                .losses_s[static_cast<std::size_t>(RunTimeLossCause::kCheckpoints)],
            99 * (3000 - 1110));
}

TEST(TrainingRunTime, IsThatOfSimulatedRunsThatEndBetweenCheckpoints) {
  TrainingRunParameters process = usual();
  process.steps = 10'037;
  process.copy_s = 2;
  process.write_s = 500;
  expect_simulated(process);
  process.checkpoint_every = 20'000;  // None but the last.
  process.failures_per_s = 1 / 1'000'000.0;
  expect_simulated(process);
}

TEST(TrainingRunTime, IsThatOfSimulatedRunsThatWaitForRepairs) {
  TrainingRunParameters process = usual();
  process.steps = 1'000'000;
  process.repair_s = 6 * 3600;
  for (const std::int64_t spares : {0, 1, 3}) {
    process.spare_nodes = spares;
    expect_simulated(process, 400);
  }
}

TEST(TrainingRunTime, OfRepairsOnlyTheMeanMatters) {
  TrainingRunParameters process = usual();
  process.steps = 1'000'000;
  process.repair_s = 6 * 3600;
  process.spare_nodes = 2;
  const SimulatedRuns played =
      simulate_whole_runs(process, 400, kSeed, RepairTimeDistribution::kFixed);
  EXPECT_NEAR(played.mean.wall_s, mean_whole_run_time(process).wall_s,
              4 * played.mean_wall_time_error_s() + process.repair_s);
}

TEST(TrainingRunTime, LossesAndStepsAreAllOfIt) {
  TrainingRunParameters process = usual();
  process.repair_s = 7200;
  const TrainingRunTime time = mean_whole_run_time(process);
  double sum = process.step_s * static_cast<double>(process.steps);
  for (const double loss : time.losses_s) {
    EXPECT_GT(loss, 0);
    sum += loss;
  }
  EXPECT_NEAR(sum, time.wall_s, 1e-9 * time.wall_s);
}

TEST(TrainingRunTime, WithoutFailuresNothingIsLostToThem) {
  TrainingRunParameters process = usual();
  process.failures_per_s = 0;
  process.repair_s = 7200;
  process.checkpoint_every = best_checkpoint_interval_steps(process);
  EXPECT_EQ(process.checkpoint_every, process.steps);
  const TrainingRunTime time = mean_whole_run_time(process);
  EXPECT_EQ(time.failures, 0);
  EXPECT_DOUBLE_EQ(time.wall_s, 10'000 * 10.25 + 200 * 30 + 40);
  EXPECT_EQ(simulate_whole_runs(process, 3, kSeed).mean.wall_s, time.wall_s);
}

TEST(TrainingRunTime, TheBestNumberOfStepsBetweenCheckpointsIsBest) {
  for (const double rate : {1 / 200.0, 1 / 10800.0, 1e-6}) {
    TrainingRunParameters process = usual();
    process.failures_per_s = rate;
    process.restart_s = 100;
    process.checkpoint_every = best_checkpoint_interval_steps(process);
    const double best = mean_whole_run_time(process).wall_s;
    const std::int64_t every = process.checkpoint_every;
    for (const std::int64_t other : {every / 2, every - 1, every + 1, 2 * every}) {
      if (other < 1) continue;
      process.checkpoint_every = other;
      // The incomplete last cycle may be better by part of one cycle.
      EXPECT_GT(mean_whole_run_time(process).wall_s, best * (1 - 2e-4)) << rate << " " << other;
    }
  }
}

std::string refusal(const TrainingRunParameters& process) {
  try {
    mean_whole_run_time(process);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(TrainingRunTime, RefusesFailuresThatNoRunGetsPast) {
  TrainingRunParameters process = usual();
  process.failures_per_s = 1 / 10.0;
  EXPECT_EQ(refusal(process),
            "failures come faster than steps: one every 10.0 s, and a step takes 10.2 s; the "
            "devices must fail less often");
  process.failures_per_s = 1 / 60.0;
  process.restart_s = 36000;
  EXPECT_EQ(refusal(process),
            "no run would end: from a failure to the next checkpoint 10.3 h pass (restart 10.0 h, "
            "steps 18.1 min, checkpoint 40.0 s), and a failure comes every 1.00 min; restarts, "
            "checkpoints or the time between them must be shorter");
}

/// The time could be computed, but would be far too long.
TEST(TrainingRunTime, TellsAttemptsThatHardlyEverEndApart) {
  TrainingRunParameters process = usual();
  process.restart_s = 5 / process.failures_per_s;
  check_failures_let_run_end(process);
  process.restart_s = 8 / process.failures_per_s;
  EXPECT_GT(mean_whole_run_time(process).wall_s, 0);
  EXPECT_THROW(check_failures_let_run_end(process), Error);
}

TEST(SimulatedRuns, FollowFromTheSeed) {
  const double first = simulate_whole_runs(usual(), 20, 1).mean.wall_s;
  EXPECT_EQ(simulate_whole_runs(usual(), 20, 1).mean.wall_s, first);
  EXPECT_NE(simulate_whole_runs(usual(), 20, 2).mean.wall_s, first);
}

}  // namespace
}  // namespace stepwright::whole_run
