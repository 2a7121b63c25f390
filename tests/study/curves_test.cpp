#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "stepwright/cost/cost_model.h"
#include "stepwright/plan/files.h"
#include "stepwright/simulate/prediction.h"
#include "stepwright/study/study.h"

namespace stepwright::study {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;

plan::PlannedJob example() { return plan::load_plan("examples/llama-3-70b.plan.yaml"); }

std::vector<std::string> keys_of(const StudyCharts& study) {
  std::vector<std::string> keys;
  for (const KeyedStudyChart& panel : study.panels) keys.push_back(panel.key);
  return keys;
}

const KeyedStudyChart& panel_of(const StudyCharts& study, const std::string& key) {
  return *std::ranges::find(study.panels, key, &KeyedStudyChart::key);
}

const ChartSeries& curve_of(const KeyedStudyChart& panel, const std::string& name) {
  return *std::ranges::find(panel.chart.series, name, &ChartSeries::name);
}

double at(const ChartSeries& curve, double x) {
  return std::ranges::find(curve.points, x, &ChartPoint::x)->y;
}

TEST(UtilizationStudy, HasAPanelPerVariable) {
  EXPECT_THAT(
      keys_of(study_gpu_utilization(example())),
      ElementsAre("hidden", "micro_batch", "tensor", "length", "exposed_over_hidden",
                  "exposed_over_micro_batch", "exposed_over_tensor", "exposed_over_length"));
}

TEST(UtilizationStudy, LargerWorkIsUsedBetter) {
  const StudyCharts study = study_gpu_utilization(example());
  for (const char* key : {"hidden", "micro_batch"}) {
    const auto& points = curve_of(panel_of(study, key), "matrix products").points;
    ASSERT_GE(points.size(), 2U) << key;
    // Until products are large enough; tiles and waves make the rise uneven.
    EXPECT_GT(std::ranges::max(points, {}, &ChartPoint::y).y, points.front().y) << key;
    EXPECT_GT(points.back().y, 0.97 * points.front().y) << key;
    for (std::size_t i = 1; i < points.size(); ++i) {
      EXPECT_GT(points[i].y, 0.97 * points[i - 1].y) << key << " at " << points[i].x;
    }
    EXPECT_THAT(points, Each(Field(&ChartPoint::y, testing::Lt(1.0)))) << key;
  }
  const auto& tensor = curve_of(panel_of(study, "tensor"), "matrix products");
  EXPECT_GT(at(tensor, 1), at(tensor, 8));
}

// The share at the plan's own size equals that of `predict`.
TEST(UtilizationStudy, SharesAreThoseOfThePrediction) {
  const plan::PlannedJob planned = example();
  const simulate::PlanPrediction prediction = simulate::predict_plan(planned);
  const auto critical = static_cast<std::size_t>(prediction.simulation.critical_stage);
  const simulate::StageTimeBreakdown& breakdown = prediction.simulation.stages[critical].breakdown;
  const StudyCharts study = study_gpu_utilization(planned);
  const auto& curve = curve_of(panel_of(study, "exposed_over_length"), "tensor");
  EXPECT_NEAR(at(curve, static_cast<double>(planned.job.length)),
              breakdown.tensor_s / prediction.step_time_s(), 1e-9);
}

// busbw by hand: 7/4 of 256 MiB sent by each of 8 ranks, over the time of the message.
TEST(BandwidthStudy, IsSentBytesOverTime) {
  const plan::PlannedJob planned = example();
  const StudyCharts study = study_collective_bandwidth(planned);
  const double bytes = 256.0 * 1024 * 1024;
  const cost::CostModel cost(planned.job);
  const double seconds =
      cost.message_time(step::OperatorKind::kAllReduce, bytes,
                        cluster::network_layout_of_strided_group(planned.job.cluster, 8, 1),
                        collective::CollectiveAlgorithm::kLibrary, step::ParallelismScheme::kNone)
          .seconds;
  EXPECT_DOUBLE_EQ(at(curve_of(panel_of(study, "inside"), "all_reduce"), bytes),
                   1.75 * bytes / seconds);
}

TEST(BandwidthStudy, SharedNicsAreSlower) {
  plan::PlannedJob planned = example();
  planned.job.cluster.nics_per_node = 1;
  planned.job.cluster.nic_of_device.assign(8, 0);
  for (cluster::NetworkLevel& level : planned.job.cluster.levels) {
    if (level.network) level.uplink_bytes_per_s /= 8;
  }
  const StudyCharts study = study_collective_bandwidth(planned);
  const auto& curve = curve_of(panel_of(study, "sharing"), "all_reduce");
  EXPECT_GT(at(curve, 1), 5 * at(curve, 8));
}

TEST(BandwidthStudy, OfOneNodeHasNoNetwork) {
  plan::PlannedJob planned = plan::plan_with_field(example(), "cluster.nodes=1");
  EXPECT_THAT(keys_of(study_collective_bandwidth(planned)), ElementsAre("inside", "placement"));
}

TEST(StudyJson, HoldsEveryPoint) {
  const StudyCharts study = study_collective_bandwidth(example());
  const auto json = study_json(study);
  EXPECT_EQ(json["variable"], "bandwidth");
  ASSERT_EQ(json["panels"].size(), study.panels.size());
  const auto& point = json["panels"][0]["curves"][0]["points"][0];
  EXPECT_EQ(point[0].get<double>(), 1024.0);
  EXPECT_EQ(point[1].get<double>(), study.panels[0].chart.series[0].points[0].y);
  EXPECT_TRUE(json.contains("plan"));
}

}  // namespace
}  // namespace stepwright::study
