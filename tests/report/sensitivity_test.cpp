#include "stepwright/report/sensitivity.h"

#include <gtest/gtest.h>

#include "stepwright/core/error.h"
#include "stepwright/plan/files.h"
#include "tests/report/plans.h"

namespace stepwright::report {
namespace {

using Json = nlohmann::ordered_json;

TEST(Sensitivity, SaysWhatPredictSaysOfTheSameChange) {
  const simulate::PlanPrediction prediction = testing::large_prediction();
  const Json told = step_time_sensitivity_json(prediction);
  EXPECT_EQ(told.at("now").at("step_time_s"), prediction.step_time_s());
  std::size_t compared = 0;
  for (const Json& change : told.at("changes")) {
    if (change.contains("refused")) continue;
    const simulate::PlanPrediction changed =
        simulate::predict_plan(plan::plan_with_field(prediction.planned, change.at("set")));
    EXPECT_EQ(change.at("step_time_s"), changed.step_time_s()) << change.at("set");
    ++compared;
  }
  EXPECT_GE(compared, 5);
}

TEST(Sensitivity, ANodeFewerIsSearchedAnew) {
  const simulate::PlanPrediction prediction = testing::large_prediction();
  std::int64_t asked_nodes = 0;
  const Json told = step_time_sensitivity_json(prediction, [&](const plan::Job& job) {
    asked_nodes = job.cluster.nodes;
    return std::optional<simulate::PlanPrediction>(prediction);
  });
  EXPECT_EQ(asked_nodes, prediction.planned.job.cluster.nodes - 1);
  EXPECT_EQ(told.at("changes").back().at("searched"), true);
}

TEST(Sensitivity, WhatCannotBeIsRefusedWithItsReason) {
  const simulate::PlanPrediction prediction = testing::large_prediction();
  const Json told = step_time_sensitivity_json(
      prediction, [](const plan::Job&) -> std::optional<simulate::PlanPrediction> {
        fail_input("no plan of the space is legal");
      });
  EXPECT_EQ(told.at("changes").back().at("refused"), "no plan of the space is legal");
}

}  // namespace
}  // namespace stepwright::report
