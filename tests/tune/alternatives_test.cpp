#include "stepwright/tune/alternatives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "small_jobs.h"

namespace stepwright::tune {
namespace {

using ::testing::ElementsAre;

TuneResult tuned() { return tune(small_tune_job(), {.threads = 1, .top = 5}); }

TEST(Alternatives, AreTheFastestOfEachOtherFamily) {
  const TuneResult result = tuned();
  const std::vector<AlternativePlan> list = fastest_plan_of_each_family(result);
  ASSERT_GT(list.size(), 1U);
  std::set<std::string> families = {user_visible_plan_traits_text(result.plans.front().plan)};
  double last_s = 0;
  for (const AlternativePlan& one : list) {
    EXPECT_EQ(one.family, user_visible_plan_traits_text(one.tuned.plan));
    EXPECT_TRUE(families.insert(one.family).second) << one.family;
    EXPECT_GE(one.tuned.step_time_s, last_s);
    last_s = one.tuned.step_time_s;
    for (const TunedPlan& other : result.simulated) {
      EXPECT_TRUE(user_visible_plan_traits_text(other.plan) != one.family ||
                  other.step_time_s >= last_s);
    }
  }
  EXPECT_LE(fastest_plan_of_each_family(result, 1).size(), 1U);
}

TEST(Alternatives, AFamilyIsNotAChunkCount) {
  plan::Plan plan;
  plan.parallel = {.tensor = 2, .pipeline = 2, .data = 4};
  plan.schedule = {.kind = schedule::PipelineScheduleKind::kInterleaved, .chunks = 2};
  plan::Plan other = plan;
  other.schedule.chunks = 4;
  EXPECT_EQ(user_visible_plan_traits_text(plan),
            "tensor 2, pipeline 2 (interleaved), data 4, NNN, recompute none");
  EXPECT_EQ(user_visible_plan_traits_text(plan), user_visible_plan_traits_text(other));
  other.recompute.kind = plan::RecomputeKind::kFull;
  EXPECT_NE(user_visible_plan_traits_text(plan), user_visible_plan_traits_text(other));
}

TEST(Alternatives, SayWhatTheyWinAndLose) {
  TunedPlan best;
  best.plan.parallel.data = 8;
  best.step_time_s = 10;
  best.peak_memory_bytes = 4 * 1024.0 * 1024 * 1024;
  best.breakdown = {.compute_s = 8, .data_s = 2};
  TunedPlan other = best;
  other.plan.parallel = {.tensor = 2, .data = 4};
  other.step_time_s = 11;
  other.peak_memory_bytes /= 2;
  other.breakdown = {.compute_s = 8, .tensor_s = 2.5, .data_s = 0.5};
  TuneResult result;
  result.plans = {best};
  result.simulated = {best, other};
  const std::vector<AlternativePlan> list = fastest_plan_of_each_family(result);
  ASSERT_EQ(list.size(), 1U);
  EXPECT_THAT(list.front().wins,
              ElementsAre("2.00 GiB less memory", "exposed data-parallel messages 1.50 s shorter"));
  EXPECT_THAT(list.front().loses, ElementsAre("1.00 s slower (10.0%)",
                                              "exposed tensor-parallel messages 2.50 s longer"));
}

}  // namespace
}  // namespace stepwright::tune
