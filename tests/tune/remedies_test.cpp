#include "stepwright/tune/remedies.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "small_jobs.h"
#include "stepwright/cluster/catalog.h"
#include "stepwright/memory/memory.h"
#include "stepwright/model/catalog.h"
#include "stepwright/plan/files.h"
#include "stepwright/simulate/prediction.h"

namespace stepwright::tune {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TuneOptions alone() { return {.threads = 1, .top = 1}; }

/// Llama-3-70B on eight H100, whose optimizer alone is larger than they are.
plan::Job too_large_job() {
  plan::Job job;
  job.model_name = "llama-3-70b";
  job.model = model::built_in_model(job.model_name).value();
  job.cluster = cluster::built_in_cluster("dgx-h100", 1).value();
  job.sequences = 32;
  job.length = 4096;
  return job;
}

/// The number of nodes behind "on ".
void expect_nodes(const FittingJob& found, const plan::Job& job) {
  const plan::Plan& plan = found.tuned.plan;
  const std::int64_t nodes = plan.parallel.ranks() / job.cluster.devices_per_node;
  EXPECT_GT(nodes, 1);
  EXPECT_EQ(found.how, fmt::format("on {} nodes", nodes));
  const plan::Job larger = plan::with_field({job, {}}, fmt::format("cluster.nodes={}", nodes)).job;
  const simulate::Prediction there = simulate::predict({larger, plan});
  EXPECT_TRUE(there.memory.fits());
  EXPECT_EQ(there.step_time_s(), found.tuned.step_time_s);
}

TEST(Remedies, AreJobsThatFit) {
  const TuneResult result = tune(too_large_job(), alone());
  ASSERT_FALSE(result.plans.front().fits);
  const std::vector<FittingJob> found = remedies(result, alone());
  ASSERT_EQ(found.size(), 2U);
  EXPECT_THAT(found[0].how, StartsWith("with the optimizer on the hosts"));
  EXPECT_TRUE(simulate::predict({result.job, found[0].tuned.plan}).memory.fits());
  EXPECT_THAT(remedies_text(found), HasSubstr("`search: {offload: {optimizer: [0.5, 1]}}`"));
  expect_nodes(found[1], result.job);
}

TEST(Remedies, LeaveAloneWhatTheJobSays) {
  plan::Job job = too_large_job();
  job.space.offload.optimizer = {0};
  const TuneResult result = tune(job, alone());
  const std::vector<FittingJob> found = remedies(result, alone());
  ASSERT_EQ(found.size(), 1U);
  expect_nodes(found[0], result.job);
}

TEST(Remedies, AreNotOnHostsWithoutRoom) {
  plan::Job job = too_large_job();
  job.cluster.host.memory_bytes = 1e9;
  const std::vector<FittingJob> found = remedies(tune(job, alone()), alone());
  ASSERT_FALSE(found.empty());
  EXPECT_THAT(found[0].how, StartsWith("on "));
}

TEST(Remedies, AreNoneWhereAPlanFits) {
  EXPECT_TRUE(remedies(tune(small_tune_job(), alone()), alone()).empty());
  EXPECT_EQ(remedies_text({}), "");
}

}  // namespace
}  // namespace stepwright::tune
