#include "stepwright/report/timeline.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/report/plans.h"

namespace stepwright::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kNumbersOfABar = 5;

/// Returns the busy seconds of a row in the overview.
double busy_s(const Json& row, double unit_s) {
  const auto numbers = row.at("bars").get<std::vector<std::int64_t>>();
  double sum_s = 0;
  for (std::size_t i = 0; i < numbers.size(); i += kNumbersOfABar) {
    sum_s += unit_s * static_cast<double>(numbers[i + 1] * numbers[i + 4]) / 1000;
  }
  return sum_s;
}

TEST(ReportTimeline, HasABarOfComputationForEachSlot) {
  const simulate::PlanPrediction prediction = testing::large_prediction();
  const Json timeline = timeline_json(prediction);
  std::size_t stages = 0;
  for (const Json& row : timeline.at("rows")) {
    if (row.at("lane") != "compute") continue;
    ++stages;
    const step::PipelineStageProgram& stage =
        prediction.program.stages[row.at("stage").get<std::size_t>()];
    EXPECT_EQ(row.at("bars").size(), kNumbersOfABar * stage.schedule.size());
  }
  EXPECT_EQ(stages, prediction.program.stages.size());
}

/// Compares rows with the recorded events of their streams (on the compute stream, with computing
/// ones); bars are rounded to a tick and a thousandth.
void expect_busy_as_long_as_streams(const simulate::PlanPrediction& prediction,
                                    const Json& timeline) {
  for (const Json& row : timeline.at("rows")) {
    double expected_s = 0;
    for (const simulate::TimelineEvent& event : prediction.simulation.events) {
      const step::Operator& op =
          prediction.program.templates[event.which].operators[event.operation];
      const bool same = event.stage == row.at("stage") &&
                        name_of(step::kStreamNames, op.stream) == row.at("lane").get<std::string>();
      const bool waits = row.at("lane") == "compute" && !step::computes_on_device(op.kind);
      if (same && !waits) expected_s += event.end_s - event.start_s;
    }
    if (row.at("lane").get<std::string>().starts_with("link")) continue;
    EXPECT_NEAR(busy_s(row, timeline.at("unit_s")), expected_s, 2e-3 * expected_s)
        << row.at("lane");
  }
}

TEST(ReportTimeline, RowsAreBusyAsLongAsTheirStreams) {
  for (const simulate::PlanPrediction& prediction :
       {testing::large_prediction(), testing::offloaded_prediction()}) {
    expect_busy_as_long_as_streams(prediction, timeline_json(prediction));
  }
}

TEST(ReportTimeline, AnUpdateOnTheHostIsWaitedFor) {
  const simulate::PlanPrediction prediction = testing::offloaded_prediction();
  const Json timeline = timeline_json(prediction);
  const auto update = std::ranges::find(timeline.at("kinds"), Json("update"));
  ASSERT_NE(update, timeline.at("kinds").end());
  const std::int64_t kind = update - timeline.at("kinds").begin();
  int updates = 0;
  for (const Json& row : timeline.at("rows")) {
    if (row.at("lane") != "compute") continue;
    const auto numbers = row.at("bars").get<std::vector<std::int64_t>>();
    for (std::size_t i = 0; i < numbers.size(); i += kNumbersOfABar) {
      if (numbers[i + 2] != kind) continue;
      ++updates;
      EXPECT_LT(numbers[i + 4], 50);
    }
  }
  EXPECT_GT(updates, 0);
}

TEST(ReportTimeline, BarsLieInsideTheStep) {
  const Json timeline = timeline_json(testing::small_prediction());
  const double step_s = timeline.at("step_time_s");
  for (const Json& row : timeline.at("rows")) {
    const auto numbers = row.at("bars").get<std::vector<std::int64_t>>();
    std::int64_t end = 0;
    for (std::size_t i = 0; i < numbers.size(); i += kNumbersOfABar) {
      EXPECT_GE(numbers[i + 1], 0);
      end += numbers[i] + numbers[i + 1];
    }
    EXPECT_LE(timeline.at("unit_s").get<double>() * static_cast<double>(end), step_s * (1 + 1e-6));
  }
}

TEST(ReportTimeline, TheDetailHoldsAForwardAndABackwardOfTheCriticalStage) {
  const simulate::PlanPrediction prediction = testing::large_prediction();
  const Json detail = timeline_json(prediction).at("detail");
  bool forward = false;
  bool backward = false;
  for (const std::string name : detail.at("names")) {
    forward = forward || name.find("|forward|") != std::string::npos;
    backward = backward || name.find("|data_gradient|") != std::string::npos;
  }
  EXPECT_TRUE(forward && backward);
  EXPECT_LT(detail.at("from_s"), detail.at("to_s"));
  EXPECT_LE(detail.at("to_s").get<double>(), prediction.step_time_s());
}

}  // namespace
}  // namespace stepwright::report
