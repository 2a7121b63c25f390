#include "stepwright/whole_run/renewal.h"

#include <gtest/gtest.h>

#include <cmath>

namespace stepwright::whole_run {
namespace {

TEST(RenewalProcess, IsDalysFormulaWhereTheWholeCheckpointIsExposed) {
  const double rate = 1 / 5000.0;
  const RenewalProcess renewal{.failures_per_s = rate, .restart_s = 600, .copy_s = 60};
  const double by_hand = std::exp(rate * 600) * (std::exp(rate * (1200 + 60)) - 1) / rate;
  EXPECT_NEAR(time_between_saved_states(renewal, 1200).mean_s, by_hand, 1e-9 * by_hand);
}

TEST(RenewalProcess, WithoutFailuresIsThePlan) {
  const RenewalProcess renewal{.restart_s = 600, .copy_s = 5, .write_s = 100};
  EXPECT_EQ(time_between_saved_states(renewal, 1000).mean_s, 1005);
  EXPECT_EQ(time_between_saved_states(renewal, 1000).variance_s2, 0);
  EXPECT_EQ(time_between_saved_states(renewal, 40).failure_free_s, 105)
      << "the next copy waits for the write";
  EXPECT_EQ(first_save_cycle_time(renewal, 1000).failure_free_s, 1105);
  EXPECT_TRUE(std::isinf(best_work_between_saves_s(renewal)));
}

TEST(RenewalProcess, RareFailuresAreTheLimitOfNone) {
  // The change from the series to the exponentials has no jump, and a cycle costs as much as one
  // failure: half of the cycle, the work lost before it counts, and the restart.
  for (const double rate : {1e-12, 1e-9, 0.99e-7, 1.01e-7, 1e-6}) {
    const RenewalProcess renewal{
        .failures_per_s = rate, .restart_s = 100, .copy_s = 10, .write_s = 50};
    const SaveCycleTime cycle = time_between_saved_states(renewal, 900);
    const double one = 910 * rate * (910 / 2.0 + 100 + 50);
    EXPECT_NEAR(cycle.mean_s - 910, one, 0.01 * one + 1e-9);
    EXPECT_NEAR(cycle.variance_s2 / (910 * rate), 605 * 605 + 910 * 910 / 12.0, 2e3);
  }
}

TEST(RenewalProcess, TheBestIntervalIsBestAndNearYoungs) {
  const RenewalProcess renewal{.failures_per_s = 1 / 11000.0, .restart_s = 600, .copy_s = 40};
  const double best = best_work_between_saves_s(renewal);
  const auto time_of_work = [&](double work) {
    return time_between_saved_states(renewal, work).mean_s / work;
  };
  for (const double other : {0.5, 0.9, 0.99, 1.01, 1.1, 2.0}) {
    EXPECT_LT(time_of_work(best), time_of_work(other * best)) << other;
  }
  EXPECT_NEAR(best, std::sqrt(2 * 40 * 11000.0), 0.05 * best);
}

TEST(RenewalProcess, TheBestIntervalIsNotBelowAHiddenWrite) {
  const RenewalProcess renewal{
      .failures_per_s = 1 / 11000.0, .restart_s = 600, .copy_s = 0.1, .write_s = 300};
  EXPECT_EQ(best_work_between_saves_s(renewal), 300);
  EXPECT_LT(time_between_saved_states(renewal, 300).mean_s / 300,
            time_between_saved_states(renewal, 200).mean_s / 200);
  EXPECT_LT(time_between_saved_states(renewal, 300).mean_s / 300,
            time_between_saved_states(renewal, 400).mean_s / 400);
}

}  // namespace
}  // namespace stepwright::whole_run
