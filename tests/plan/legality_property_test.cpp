#include <gmock/gmock.h>

#include "stepwright/plan/laws/legality.h"
#include "tests/plan/random_plans.h"
#include "tests/plan/shown.h"
#include "tests/plan/validator.h"

namespace stepwright::plan {
namespace {

TEST(LegalityProperty, AgreesWithDoingWhatThePlanAsks) {
  Dice dice(8);
  int legal = 0;
  constexpr int kPlans = 40'000;
  for (int i = 0; i < kPlans; ++i) {
    const Job job = random_job(dice);
    const Plan plan = random_plan(dice, job);
    const std::optional<PlanRejection> rejected = find_plan_rejection(job, plan);
    EXPECT_EQ(!rejected, can_be_done(job, plan))
        << shown(plan) << (rejected ? rejected->message : "");
    legal += rejected ? 0 : 1;
  }
  EXPECT_GT(legal, kPlans / 50);
  EXPECT_LT(legal, kPlans / 2);
}

TEST(LegalityProperty, WhatIsProposedIsLegal) {
  Dice dice(9);
  int proposed = 0;
  for (int i = 0; i < 5'000; ++i) {
    const Job job = random_job(dice);
    const Plan plan = random_plan(dice, job);
    const std::optional<PlanRejection> rejected = find_plan_rejection(job, plan);
    if (!rejected) continue;
    for (const Plan& near : rejected->nearest) {
      EXPECT_TRUE(can_be_done(job, near)) << rejected->message;
      EXPECT_NE(near, plan);
      ++proposed;
    }
  }
  EXPECT_GT(proposed, 1'000);
}

TEST(LegalityProperty, LegalValuesAreListed) {
  Dice dice(10);
  for (int i = 0; i < 500; ++i) {
    const Job job = random_good_job(dice);
    const Plan plan = random_legal_plan(dice, job);
    const auto lists = [](const std::vector<std::int64_t>& values, std::int64_t value) {
      return std::ranges::binary_search(values, value);
    };
    const ParallelismDegrees& degrees = plan.parallel;
    EXPECT_TRUE(lists(legal_tensor_degrees(job), degrees.tensor));
    EXPECT_TRUE(lists(legal_context_degrees(job), degrees.context));
    EXPECT_TRUE(!plan.layers.empty() || lists(legal_pipeline_degrees(job), degrees.pipeline));
    EXPECT_TRUE(lists(legal_expert_degrees(job), degrees.expert));
    EXPECT_TRUE(lists(legal_expert_tensor_degrees(job), degrees.expert_tensor));
    EXPECT_TRUE(lists(legal_micro_batch_sizes(job, degrees.data), plan.micro_batch));
    EXPECT_TRUE(lists(legal_sharding_group_sizes(plan), plan.sharding.group));
    EXPECT_TRUE(lists(legal_expert_sharding_group_sizes(plan), plan.sharding.expert_group));
  }
}

}  // namespace
}  // namespace stepwright::plan
