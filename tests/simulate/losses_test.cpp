#include "stepwright/simulate/losses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "stepwright/cluster/catalog.h"
#include "stepwright/model/catalog.h"
#include "stepwright/plan/plan.h"
#include "tests/plan/random_plans.h"
#include "tests/plan/shown.h"

namespace stepwright::simulate {
namespace {

plan::PlannedJob planned_on_two_nodes(const char* model) {
  plan::PlannedJob planned;
  planned.job.model_name = model;
  planned.job.model = *model::built_in_model(model);
  planned.job.cluster = *cluster::built_in_cluster("dgx-h100", 2);
  planned.job.length = 4096;
  planned.job.sequences = 64;
  planned.plan.parallel = {.tensor = 2, .pipeline = 2, .data = 4};
  return planned;
}

double sum_of(const std::vector<StepTimeLoss>& list) {
  double sum = 0;
  for (const StepTimeLoss& loss : list) sum += loss.seconds;
  return sum;
}

double seconds_of(const std::vector<StepTimeLoss>& list, std::string_view key) {
  const auto found = std::ranges::find(list, key, &StepTimeLoss::key);
  return found == list.end() ? 0 : found->seconds;
}

TEST(Losses, SumToTheStepWithItsUsefulTime) {
  for (const char* model : {"llama-3-8b", "mixtral-8x7b"}) {
    for (const plan::RecomputeKind kind :
         {plan::RecomputeKind::kNone, plan::RecomputeKind::kSelective,
          plan::RecomputeKind::kFull}) {
      plan::PlannedJob planned = planned_on_two_nodes(model);
      planned.plan.recompute.kind = kind;
      const PlanPrediction p = predict_plan(planned);
      const std::vector<StepTimeLoss> list = step_time_losses(p);
      EXPECT_NEAR(sum_of(list) + useful_computation_s(p), p.step_time_s(), 1e-9 * p.step_time_s())
          << model;
      EXPECT_TRUE(std::ranges::is_sorted(list, std::ranges::greater{}, &StepTimeLoss::seconds));
    }
  }
}

TEST(Losses, RecomputationIsTheForwardThatRunsAgain) {
  plan::PlannedJob planned = planned_on_two_nodes("llama-3-8b");
  const PlanPrediction without = predict_plan(planned);
  planned.plan.recompute.kind = plan::RecomputeKind::kFull;
  const PlanPrediction with = predict_plan(planned);
  const auto stage = static_cast<std::size_t>(with.simulation.critical_stage);
  const double more_s = with.simulation.stages[stage].breakdown.compute_s -
                        without.simulation.stages[stage].breakdown.compute_s;
  EXPECT_EQ(seconds_of(step_time_losses(without), "recomputation"), 0);
  EXPECT_NEAR(seconds_of(step_time_losses(with), "recomputation"), more_s, 1e-9 * more_s);
}

// Attention of a million tokens: kernels leave out the half behind the mask, which MFU counts.
TEST(Losses, CountNoWorkThatKernelsLeaveOut) {
  plan::PlannedJob planned = planned_on_two_nodes("llama-3-8b");
  planned.job.length = 1 << 20;
  planned.job.sequences = 1;
  planned.plan.parallel = {.tensor = 8, .context = 2};
  planned.plan.recompute.kind = plan::RecomputeKind::kFull;
  const PlanPrediction p = predict_plan(planned);
  EXPECT_LT(useful_computation_s(p), 0.6 * p.mfu * p.step_time_s());
  EXPECT_GT(seconds_of(step_time_losses(p), "below_peak"), 0);
}

// Random jobs and plans: degrees, schedules, layers, recomputation, shardings.
TEST(Losses, AreNeverBelowZero) {
  plan::Dice dice(7);
  for (int i = 0; i < 150; ++i) {
    const plan::Job job = plan::random_good_job(dice);
    const plan::Plan plan = plan::random_legal_plan(dice, job);
    const PlanPrediction p = predict_plan({job, plan});
    const std::vector<StepTimeLoss> list = step_time_losses(p);
    const double rounding = 1e-9 * p.step_time_s();
    for (const StepTimeLoss& loss : list) {
      EXPECT_GE(loss.seconds, -rounding) << loss.key << " of " << plan::shown(plan);
    }
    EXPECT_NEAR(sum_of(list) + useful_computation_s(p), p.step_time_s(), rounding);
  }
}

TEST(Losses, OnlyExpertsRouteTokens) {
  EXPECT_EQ(
      seconds_of(step_time_losses(predict_plan(planned_on_two_nodes("llama-3-8b"))), "routing"), 0);
  EXPECT_GT(
      seconds_of(step_time_losses(predict_plan(planned_on_two_nodes("mixtral-8x7b"))), "routing"),
      0);
}

}  // namespace
}  // namespace stepwright::simulate
