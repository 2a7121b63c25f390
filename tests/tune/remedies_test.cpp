#include "stepwright/tune/remedies.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "small_jobs.h"
#include "stepwright/cluster/catalog.h"
#include "stepwright/memory/memory.h"
#include "stepwright/model/catalog.h"
#include "stepwright/plan/files.h"
#include "stepwright/simulate/prediction.h"

namespace stepwright::tune {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TuneOptions alone() { return {.threads = 1, .top = 1}; }

/// Returns a job for Llama-3-70B on eight H100, whose memory is smaller than the optimizer states
/// alone.
plan::Job too_large_job() {
  plan::Job job;
  job.model_name = "llama-3-70b";
  job.model = model::built_in_model(job.model_name).value();
  job.cluster = cluster::built_in_cluster("dgx-h100", 1).value();
  job.sequences = 32;
  job.length = 4096;
  return job;
}

std::vector<MemoryRemedy> remedies_of(const TuneResult& result) {
  return find_memory_remedies({result.job, result.plans.front().plan},
                              {.searched = &result, .threads = 1});
}

const MemoryRemedy* find(const std::vector<MemoryRemedy>& list, plan::MemoryRemedyKind kind) {
  const auto found = std::ranges::find(list, kind, &MemoryRemedy::kind);
  return found == list.end() ? nullptr : &*found;
}

/// Expects a remedy to change only the keys of its `set`, and its figures to be those of a
/// prediction.
void expect_said(const MemoryRemedy& remedy, const plan::PlannedJob& before) {
  const plan::PlannedJob after = plan::plan_with_fields(before, remedy.set);
  const simulate::PlanPrediction there = simulate::predict_plan(after);
  EXPECT_TRUE(there.memory.fits()) << memory_remedy_name(remedy.kind);
  EXPECT_NEAR(there.step_time_s(), remedy.step_time_s, 1e-9 * remedy.step_time_s)
      << memory_remedy_name(remedy.kind);
  EXPECT_EQ(there.memory.peak_bytes, remedy.peak_memory_bytes) << memory_remedy_name(remedy.kind);
}

TEST(Remedies, AreJobsThatFit) {
  const TuneResult result = tune(too_large_job(), alone());
  ASSERT_FALSE(result.plans.front().fits);
  const std::vector<MemoryRemedy> found = remedies_of(result);
  const MemoryRemedy* host = find(found, plan::MemoryRemedyKind::kHostOptimizer);
  const MemoryRemedy* nodes = find(found, plan::MemoryRemedyKind::kNodes);
  ASSERT_TRUE(host && nodes);
  EXPECT_TRUE(simulate::predict_plan(host->changed).memory.fits());
  EXPECT_THAT(host->set, Contains(StartsWith("offload")));
  EXPECT_GT(nodes->changed.job.cluster.nodes, 1);
  EXPECT_EQ(nodes->set.front(), fmt::format("cluster.nodes={}", nodes->changed.job.cluster.nodes));
  EXPECT_TRUE(simulate::predict_plan(nodes->changed).memory.fits());
  EXPECT_THAT(memory_remedies_text(found), HasSubstr("the optimizer on the hosts"));
}

TEST(Remedies, LeaveAloneWhatTheJobSays) {
  plan::Job job = too_large_job();
  job.space.offload.optimizer = {0};
  const std::vector<MemoryRemedy> found = remedies_of(tune(job, alone()));
  EXPECT_EQ(find(found, plan::MemoryRemedyKind::kHostOptimizer), nullptr);
  EXPECT_EQ(find(found, plan::MemoryRemedyKind::kParametersOnHost), nullptr);
  EXPECT_NE(find(found, plan::MemoryRemedyKind::kNodes), nullptr);
}

TEST(Remedies, AreNotOnHostsWithoutRoom) {
  plan::Job job = too_large_job();
  job.cluster.host.memory_bytes = 1e9;
  const std::vector<MemoryRemedy> found = remedies_of(tune(job, alone()));
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(find(found, plan::MemoryRemedyKind::kHostOptimizer), nullptr);
}

TEST(Remedies, AreNoneWhereAPlanFits) {
  EXPECT_TRUE(remedies_of(tune(small_tune_job(), alone())).empty());
  EXPECT_EQ(memory_remedies_text({}), "");
}

/// Returns a plan for Llama-3-8B on eight H100 with one micro-batch of eight sequences and no
/// recomputation.
plan::PlannedJob full_of_activations() {
  plan::PlannedJob planned{.job = too_large_job(), .plan = {}};
  planned.job.model_name = "llama-3-8b";
  planned.job.model = model::built_in_model("llama-3-8b").value();
  planned.job.sequences = 64;
  planned.job.length = 8192;
  planned.job.framework.name = "accelerate";
  planned.plan.parallel.data = 8;
  planned.plan.micro_batch = 8;
  planned.plan.sharding.optimizer = planned.plan.sharding.gradients =
      planned.plan.sharding.parameters = plan::StateShardingScope::kGlobal;
  planned.plan = plan::canonical_plan(planned.plan, planned.job);
  return planned;
}

TEST(Remedies, OfAPlanAreTheFastestOfEachKind) {
  const plan::PlannedJob planned = full_of_activations();
  const std::vector<MemoryRemedy> found = find_memory_remedies(planned, {.threads = 1});
  const MemoryRemedy* recompute = find(found, plan::MemoryRemedyKind::kRecompute);
  const MemoryRemedy* smaller = find(found, plan::MemoryRemedyKind::kMicroBatch);
  ASSERT_TRUE(recompute && smaller);
  EXPECT_THAT(recompute->set, Contains("recompute=full"));
  EXPECT_THAT(smaller->set, Contains(StartsWith("micro_batch=")));
  for (const MemoryRemedy& remedy : found) expect_said(remedy, planned);
}

TEST(Remedies, AreOnesThatTheFrameworkRuns) {
  const std::vector<MemoryRemedy> found =
      find_memory_remedies(full_of_activations(), {.threads = 1});
  for (const MemoryRemedy& remedy : found) {
    EXPECT_EQ(remedy.changed.plan.parallel.pipeline, 1) << "Accelerate has no pipeline";
    EXPECT_NE(remedy.changed.plan.recompute.kind, plan::RecomputeKind::kSelective);
  }
}

TEST(Remedies, OfATrainerHaveItsLosses) {
  plan::PlannedJob planned = full_of_activations();
  planned.plan.recompute.kind = plan::RecomputeKind::kFull;
  const plan::TrainingFramework trainer{.name = "accelerate", .variant = "llama-factory"};
  const std::vector<MemoryRemedy> found =
      find_memory_remedies(planned, {.trainer = trainer, .threads = 1});
  const MemoryRemedy* loss = find(found, plan::MemoryRemedyKind::kLossChunks);
  ASSERT_TRUE(loss);
  EXPECT_EQ(loss->set.front(), "kernels.loss_keeps=gradients");
}

}  // namespace
}  // namespace stepwright::tune
