#include "stepwright/tune/used_devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "small_jobs.h"
#include "stepwright/cluster/catalog.h"

namespace stepwright::tune {
namespace {

cluster::Cluster cluster_of(std::string_view name, std::int64_t nodes) {
  return cluster::built_in_cluster(name, nodes).value();
}

TEST(UsedDevices, PowersOfTwoAndThreeTimesThemAreUsedWhole) {
  for (const std::int64_t nodes : {1, 2, 3, 4, 6, 8, 48, 64, 2048}) {
    const std::vector<cluster::Cluster> parts = cluster_parts_to_try(cluster_of("dgx-h100", nodes));
    EXPECT_EQ(parts, std::vector{cluster_of("dgx-h100", nodes)});
  }
}

TEST(UsedDevices, PartsOfARackKeepItsLinks) {
  const cluster::Cluster rack = cluster_of("gb200-nvl72", 10);
  const cluster::Cluster part = cluster_reduced_to_devices(rack, 8, 64);
  EXPECT_EQ(part.devices(), 512);
  EXPECT_EQ(part.nics_per_node, 64);
  EXPECT_EQ(part.nic_of_device.size(), 64U);
  EXPECT_EQ(part.levels.front().size, 64);
  EXPECT_EQ(part.levels.front().uplink_bytes_per_s, rack.levels.front().uplink_bytes_per_s);
  EXPECT_EQ(part.levels.back().size, 512);
  EXPECT_DOUBLE_EQ(part.levels.back().uplink_bytes_per_s,
                   rack.levels.back().uplink_bytes_per_s * 64 / 72);
}

TEST(UsedDevices, FewerNodesOfAProfileAreThatProfile) {
  EXPECT_EQ(cluster_reduced_to_devices(cluster_of("dgx-h100", 7), 6, 8), cluster_of("dgx-h100", 6));
}

TEST(UsedDevices, NoneIsLeftIdleWhereAllAreAskedFor) {
  plan::Job job = small_tune_job();
  job.cluster = cluster_reduced_to_devices(job.cluster, 1, 4);
  job.cluster.nodes = 5;
  job.cluster.levels.back().size = 20;
  job.space.pipeline = {1, 2, 4};
  const TuneResult some = tune(job, {.threads = 1});
  EXPECT_GT(some.devices_idle, 0);
  EXPECT_EQ(some.job.cluster.devices() + some.devices_idle, 20);
  EXPECT_THAT(some.notes, testing::Contains(testing::HasSubstr("1 node can fail")));
  ASSERT_TRUE(some.spares.has_value());
  EXPECT_EQ(some.spares->nodes, 1);
  EXPECT_EQ(some.spares->devices_of_node, 0);
  EXPECT_FALSE(some.spares->step_time_if_used_s.has_value());  // 16 sequences for 20 devices
  job.use_all = true;
  job.sequences = 20;
  const TuneResult all = tune(job, {.threads = 1});
  EXPECT_EQ(all.devices_idle, 0);
  EXPECT_FALSE(all.spares.has_value());
  EXPECT_EQ(all.plans.front().plan.parallel.ranks(), 20);
}

TEST(UsedDevices, SaysWhatAStepTakesWithAllInUse) {
  // Four layers on three positions of nine devices wait for two on one; on four they do not.
  plan::Job job = small_tune_job();
  job.cluster.nodes = 1;
  job.cluster.devices_per_node = 9;
  job.cluster.nic_of_device.assign(9, 0);
  for (cluster::NetworkLevel& level : job.cluster.levels) level.size = 9;
  job.model.layers = 4;
  job.model.vocabulary = 1024;
  job.sequences = 72;
  job.space.tensor = {1};
  job.space.context = {1};
  job.space.pipeline = {3, 4};
  const TuneResult some = tune(job, {.threads = 1});
  job.use_all = true;
  const TuneResult all = tune(job, {.threads = 1});
  ASSERT_TRUE(some.spares.has_value());
  EXPECT_EQ(some.spares->nodes, 0);
  EXPECT_EQ(some.spares->devices_of_node, 1);
  EXPECT_EQ(some.spares->step_time_if_used_s, all.plans.front().step_time_s);
  EXPECT_LT(some.plans.front().step_time_s, all.plans.front().step_time_s);
}

}  // namespace
}  // namespace stepwright::tune
