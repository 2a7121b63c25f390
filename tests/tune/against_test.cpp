#include "stepwright/tune/against.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "small_jobs.h"
#include "stepwright/cluster/catalog.h"
#include "stepwright/core/error.h"
#include "stepwright/model/catalog.h"
#include "stepwright/plan/canonical.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/frameworks/law.h"
#include "stepwright/plan/laws/legality.h"
#include "stepwright/simulate/prediction.h"
#include "stepwright/tune/differences.h"

namespace stepwright::tune {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Optional;
using ::testing::StartsWith;

TuneOptions one_thread() { return {.threads = 1, .top = 5}; }

/// Applies the listed changes as a user would, with `predict --set`.
void expect_reachable(const TuneResult& result, const plan::Plan& own,
                      const UserPlanComparison& found) {
  plan::PlannedJob at{result.job, own};
  double before_s = found.own.step_time_s;
  for (const PlanChange& change : found.changes) {
    const plan::Plan last = at.plan;
    at = plan::plan_with_fields(at, change.set);
    const simulate::PlanPrediction prediction = simulate::predict_plan(at);
    EXPECT_TRUE(prediction.memory.fits());
    if (change.kind == PlanChangeKind::kFlag) {
      EXPECT_EQ(at.plan.parallel, last.parallel);
      EXPECT_EQ(plan::model_chunk_placement(at.plan), plan::model_chunk_placement(last));
      EXPECT_EQ(plan::layers_per_chunk(at.job, at.plan), plan::layers_per_chunk(at.job, last));
    }
    EXPECT_EQ(prediction.step_time_s(), change.reached.step_time_s);
    EXPECT_NEAR(before_s - prediction.step_time_s(), change.gain_s, 1e-12);
    before_s = prediction.step_time_s();
  }
  EXPECT_LE(before_s, result.plans.front().step_time_s * (1 + kMinProposedPlanSaving));
}

TEST(Against, EveryChangeIsALegalPlanThatFitsAndEndsAtTheBest) {
  const TuneResult result = tune(small_tune_job(), one_thread());
  plan::Plan own;
  own.parallel = {.tensor = 4, .data = 2};
  own.recompute.kind = plan::RecomputeKind::kFull;
  own.overlap.gradients = false;
  const UserPlanComparison found = compare_user_plan(result, own, one_thread());
  EXPECT_TRUE(found.own.fits);
  EXPECT_NE(found.own.lost, "");
  ASSERT_GT(found.changes.size(), 1U);
  EXPECT_EQ(found.changes.front().kind, PlanChangeKind::kFlag);
  for (const PlanChange& change : found.changes) EXPECT_GT(change.gain_s, 0);
  expect_reachable(result, own, found);
}

TEST(Against, TheFirstChangeMakesAPlanFit) {
  plan::Job job = small_tune_job();
  plan::Plan own;
  own.parallel.data = 8;
  const double needs = simulate::predict_plan({job, own}).memory.peak_bytes;
  job.objective.memory_limit_bytes = 0.8 * needs;
  const TuneResult result = tune(job, one_thread());
  ASSERT_TRUE(result.plans.front().fits);
  const UserPlanComparison found = compare_user_plan(result, own, one_thread());
  EXPECT_FALSE(found.own.fits);
  EXPECT_GT(found.own.over_by_bytes, 0);
  ASSERT_FALSE(found.changes.empty());
  expect_reachable(result, own, found);
}

// Sharded gradients are of bf16 there, with buckets of a layer: three choices that it runs
// together.
TEST(Against, WhatAFrameworkRunsOnlyTogetherIsOneChangeWithoutWhatCanWait) {
  plan::Job job = small_tune_job();
  job.model = model::built_in_model("llama-3.1-8b").value();
  job.cluster = cluster::built_in_cluster("dgx-h100", 1).value();
  job.framework = {.name = "accelerate"};
  job.sequences = 64;
  job.length = 4096;
  const TuneResult result = tune(job, one_thread());
  plan::Plan own;
  own.parallel.data = 8;
  own.recompute.kind = plan::RecomputeKind::kFull;
  own = plan::FrameworkSupport(job.framework)
            .with_framework_bucket_sizes(job, plan::canonical_plan(own, job));
  const UserPlanComparison found = compare_user_plan(result, own, one_thread());
  EXPECT_FALSE(found.own.fits);
  ASSERT_GT(found.changes.size(), 1U);
  EXPECT_THAT(found.changes.front().set, Contains("accumulate=bf16"));
  EXPECT_THAT(found.changes.front().set, Contains(StartsWith("sharding.states=")));
  EXPECT_THAT(found.changes.front().set, Not(Contains(StartsWith("recompute="))));
  EXPECT_THAT(found.changes[1].set, ElementsAre(StartsWith("recompute=")));
  expect_reachable(result, own, found);
}

TEST(Against, LeadsFromAnyPlanOfARandomJobToTheBest) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    const TuneResult result = tune(small_random_job(seed), one_thread());
    if (!result.plans.front().fits) continue;
    for (const plan::Plan& own : {result.simulated.back().plan, result.pareto.back().plan}) {
      expect_reachable(result, own, compare_user_plan(result, own, one_thread()));
    }
  }
}

TEST(Against, OtherLayersOfAPositionAreALayout) {
  plan::Job job = small_tune_job();
  job.space.pipeline = {2};
  job.space.tensor = {1};
  job.space.context = {1};
  job.space.schedule = {schedule::PipelineScheduleKind::kInterleaved};
  job.space.chunks = {2};
  const TuneResult result = tune(job, one_thread());
  ASSERT_TRUE(result.plans.front().fits);
  plan::Plan own = result.plans.front().plan;
  own.schedule = {};
  own.layers.clear();
  const UserPlanComparison found = compare_user_plan(result, own, one_thread());
  ASSERT_FALSE(found.changes.empty());
  for (const PlanChange& change : found.changes) {
    const bool chunks = std::ranges::count(change.set, "schedule.chunks=2") > 0;
    EXPECT_EQ(change.kind == PlanChangeKind::kLayout, chunks);
  }
}

TEST(Against, TheBestHasNothingToChange) {
  const TuneResult result = tune(small_tune_job(), one_thread());
  const UserPlanComparison found =
      compare_user_plan(result, result.plans.front().plan, one_thread());
  EXPECT_EQ(found.own.lost, "");
  EXPECT_TRUE(found.changes.empty());
}

TEST(Against, AnotherKernelOfAttentionIsTheFirstChange) {
  plan::Job job = small_tune_job();
  job.cluster = cluster::built_in_cluster("dgx-h100", 1).value();
  const TuneResult result = tune(job, one_thread());
  const plan::Plan& best = result.plans.front().plan;
  const UserPlanComparison found =
      compare_user_plan(result, best, one_thread(), cluster::AttentionKernel::kFlash2);
  ASSERT_EQ(found.changes.size(), 1U);
  const PlanChange& change = found.changes.front();
  EXPECT_EQ(change.set, std::vector<std::string>{"kernels.attention=flash3"});
  EXPECT_EQ(change.reached.step_time_s, result.plans.front().step_time_s);
  job = result.job;
  job.kernels.attention = cluster::AttentionKernel::kFlash2;
  EXPECT_EQ(found.own.step_time_s, simulate::predict_plan({job, best}).step_time_s());
  EXPECT_GT(change.gain_s, 0);
  EXPECT_NE(found.own.lost, "");
}

TEST(Against, RefusesAPlanThatIsNotLegal) {
  const TuneResult result = tune(small_tune_job(), one_thread());
  plan::Plan own;
  own.parallel = {.tensor = 3};
  EXPECT_THROW(compare_user_plan(result, own, one_thread()), Error);
}

TEST(Against, JobsDifferInFieldsNotInNames) {
  const plan::Job job = small_tune_job();
  plan::Job other = job;
  other.cluster.name = "elsewhere";
  other.model_name = other.model.name = "mine";
  other.space.tensor = {2};
  EXPECT_EQ(first_differing_job_field(job, other), std::nullopt);
  other = job;
  other.length = 4096;
  EXPECT_THAT(first_differing_job_field(job, other),
              Optional(HasSubstr("batch.length is 4096 in the plan and 2048 in the job")));
  other = job;
  other.model.layers = 9;
  EXPECT_THAT(first_differing_job_field(job, other), Optional(HasSubstr("model.layers is 9")));
}

TEST(Against, FieldsAreThoseOfThePlanFile) {
  plan::Plan from;
  plan::Plan to = from;
  to.recompute = {.kind = plan::RecomputeKind::kEvery, .every = 2};
  to.overlap.tensor = true;
  to.parallel.data = 8;
  EXPECT_THAT(differing_plan_fields(small_tune_job(), from, to),
              ElementsAre("parallel.data=8", R"(recompute={"every":2})", "overlap.tensor=true"));
  from = to;
  from.offload.optimizer = 1;
  EXPECT_THAT(differing_plan_fields(small_tune_job(), from, to), ElementsAre("offload={}"));
}

}  // namespace
}  // namespace stepwright::tune
