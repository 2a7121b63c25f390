#include "stepwright/study/scaling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "stepwright/cluster/catalog.h"
#include "stepwright/collective/in_network.h"
#include "stepwright/core/error.h"

namespace stepwright::study {
namespace {

using testing::ElementsAre;

constexpr double kMega = 1e6;

/// Returns a setting with one device per node, NICs of 50 GB/s, 5 us between nodes.
CollectiveScalingSettings single_gpus(const std::vector<std::int64_t>& nodes) {
  CollectiveScalingSettings setting{.collectives = {collective::CollectiveOperation::kAllGather},
                                    .payloads_bytes = {100 * kMega}};
  for (const std::int64_t n : nodes)
    setting.clusters.push_back(cluster::load_cluster("vista-gh200", n));
  return setting;
}

CollectiveScalingSettings dgx(const std::vector<std::int64_t>& nodes) {
  CollectiveScalingSettings setting{.collectives = {collective::CollectiveOperation::kAllReduce},
                                    .payloads_bytes = {64 * kMega}};
  for (const std::int64_t n : nodes)
    setting.clusters.push_back(cluster::load_cluster("dgx-h100", n));
  return setting;
}

/// 50 MB to the single other node: 1 ms, plus a start and a latency.
TEST(Scaling, IsWhatAHandCounts) {
  CollectiveScalingSettings setting = single_gpus({2});
  setting.play_ranks = 2;
  const CollectiveScalingStudy study = study_collective_scaling(setting);
  ASSERT_EQ(study.points.size(), 1U);
  const CollectiveScalingPoint& point = study.points.front();
  EXPECT_EQ(point.ranks, 2);
  EXPECT_TRUE(point.played);
  for (const CollectiveScheduleTime& time : point.schedules) {
    EXPECT_EQ(time.chunks, 1);
    EXPECT_NEAR(time.closed_s, 1e-3 + 1e-6 + 5e-6, 1e-12)
        << name_of(collective::kCollectiveAlgorithmNames, time.method);
    EXPECT_NEAR(time.played_s.value_or(0), 1e-3 + 1e-6 + 5e-6, 1e-12);
  }
  EXPECT_NEAR(point.least.any_s, 1e-3, 1e-12);
  EXPECT_NEAR(point.ho_ring_speedup().value_or(0), 1, 1e-9);
  EXPECT_FALSE(point.adding_network_s);
}

TEST(Scaling, SimulatesGroupsUpToTheSizeAskedFor) {
  CollectiveScalingSettings setting = dgx({1, 2, 4});
  setting.play_ranks = 16;
  const CollectiveScalingStudy study = study_collective_scaling(setting);
  ASSERT_EQ(study.points.size(), 3U);
  EXPECT_TRUE(study.points[1].played);
  EXPECT_FALSE(study.points[2].played);
  EXPECT_TRUE(study.points[1].schedules.front().played_s);
  EXPECT_FALSE(study.points[2].schedules.front().played_s);
  for (const auto& [method, difference] : study.closed_form_differences()) {
    EXPECT_LT(difference, method == collective::CollectiveAlgorithm::kRings ? 0.1 : 0.02)
        << name_of(collective::kCollectiveAlgorithmNames, method);
  }
}

TEST(Scaling, IsTheSameWhenEveryRankIsSimulated) {
  CollectiveScalingSettings setting = dgx({4});
  setting.play_ranks = 32;
  const CollectiveScalingStudy one = study_collective_scaling(setting);
  setting.every_rank = true;
  const CollectiveScalingStudy all = study_collective_scaling(setting);
  for (std::size_t i = 0; i < one.points[0].schedules.size(); ++i) {
    const double seconds = all.points[0].schedules[i].seconds();
    EXPECT_NEAR(one.points[0].schedules[i].seconds(), seconds, 1e-9 * seconds);
  }
}

TEST(Scaling, SimulatesEveryRankOfGroupsThatFitOnly) {
  CollectiveScalingSettings setting = dgx({2048});
  setting.play_ranks = 16384;
  setting.methods = {collective::CollectiveAlgorithm::kRailHalving};
  EXPECT_TRUE(study_collective_scaling(setting).points[0].played);
  setting.every_rank = true;
  EXPECT_THROW(study_collective_scaling(setting), Error);
}

TEST(Scaling, DoesNotDependOnThreads) {
  CollectiveScalingSettings setting = dgx({1, 2, 4, 8});
  setting.play_ranks = 32;
  setting.threads = 1;
  const std::string one = collective_scaling_json(study_collective_scaling(setting)).dump();
  setting.threads = 4;
  EXPECT_EQ(collective_scaling_json(study_collective_scaling(setting)).dump(), one);
}

/// If links inside nodes are nine times as fast as a NIC, HO-Ring gains over rings on all NICs by
/// overlap. With 16,384 short messages it loses to schedules with few steps and to switches that
/// add.
TEST(Scaling, SaysWhereTheHoRingWinsAndWhereNot) {
  CollectiveScalingSettings setting = dgx({4, 2048});
  setting.payloads_bytes = {1e9};
  const CollectiveScalingStudy study = study_collective_scaling(setting);
  EXPECT_EQ(study.points[0].fastest_other_than_ho_ring()->method,
            collective::CollectiveAlgorithm::kRings);
  EXPECT_GT(study.points[0].ho_ring_speedup().value_or(0), 1.05);
  EXPECT_EQ(study.points[1].fastest_other_than_ho_ring()->method,
            collective::CollectiveAlgorithm::kRailHalving);
  EXPECT_LT(study.points[1].ho_ring_speedup().value_or(1), 0.5);
  for (const CollectiveScalingPoint& point : study.points) {
    EXPECT_LT(point.adding_switches_s.value_or(1),
              *point.collective_seconds_by_algorithm(collective::CollectiveAlgorithm::kHoRing));
    EXPECT_LE(*point.adding_switches_s, *point.adding_network_s);
  }
}

TEST(Scaling, LooksAtTheSchedulesAskedForOnly) {
  CollectiveScalingSettings setting = dgx({4});
  setting.methods = {collective::CollectiveAlgorithm::kHoRing};
  const CollectiveScalingStudy study = study_collective_scaling(setting);
  ASSERT_EQ(study.points[0].schedules.size(), 1U);
  EXPECT_EQ(study.points[0].fastest_other_than_ho_ring(), nullptr);
  EXPECT_FALSE(study.points[0].ho_ring_speedup());
  EXPECT_FALSE(collective_scaling_json(study)["points"][0].contains("ho_ring_gain"));
}

TEST(Scaling, LeavesOutSchedulesThatDoNotExist) {
  const CollectiveScalingStudy study = study_collective_scaling(dgx({3}));
  EXPECT_FALSE(study.points[0].collective_seconds_by_algorithm(
      collective::CollectiveAlgorithm::kHalvingDoubling));
  EXPECT_FALSE(
      study.points[0].collective_seconds_by_algorithm(collective::CollectiveAlgorithm::kRelay));
  EXPECT_TRUE(
      study.points[0].collective_seconds_by_algorithm(collective::CollectiveAlgorithm::kRings));
}

TEST(Scaling, RefusesWhatItsFormulasDoNotCover) {
  for (const char* name : {"mi300x-8gpu", "a40-8gpu-pcie"}) {
    CollectiveScalingSettings setting = dgx({});
    setting.clusters.push_back(cluster::load_cluster(name, 2));
    EXPECT_THROW(study_collective_scaling(setting), Error) << name;
  }
  CollectiveScalingSettings pods = dgx({});
  pods.clusters.push_back(cluster::load_cluster("meta-llama3-h100", 1024));
  EXPECT_THROW(study_collective_scaling(pods), Error);
  EXPECT_THROW(study_collective_scaling(dgx({1 << 20})), Error);
}

TEST(ScalingJson, HoldsEveryPoint) {
  CollectiveScalingSettings setting = dgx({1, 2});
  setting.play_ranks = 8;
  const CollectiveScalingStudy study = study_collective_scaling(setting);
  const auto json = collective_scaling_json(study);
  EXPECT_EQ(json["variable"], "collectives");
  EXPECT_EQ(json["cluster"], "dgx-h100");
  EXPECT_NEAR(json["inside_bytes_per_s"].get<double>(), 450e9, 1);
  EXPECT_NEAR(json["rail_bytes_per_s"].get<double>(), 50e9, 1);
  ASSERT_EQ(json["points"].size(), 2U);
  const auto& point = json["points"][1];
  EXPECT_EQ(point["operation"], "all_reduce");
  EXPECT_EQ(point["ranks"], 16);
  EXPECT_EQ(point["ho_ring_gain"].get<double>(), study.points[1].ho_ring_speedup());
  EXPECT_EQ(point["adding_switches_s"].get<double>(), study.points[1].adding_switches_s);
  EXPECT_TRUE(json["points"][0]["schedules"][0].contains("simulated_s"));
  EXPECT_FALSE(point["schedules"][0].contains("simulated_s"));
  EXPECT_TRUE(json["differences"].contains("ho-ring"));
}

}  // namespace
}  // namespace stepwright::study
