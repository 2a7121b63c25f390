#include "stepwright/report/sensitivity.h"

#include <gtest/gtest.h>

#include "stepwright/core/error.h"
#include "stepwright/plan/files.h"
#include "tests/report/plans.h"

namespace stepwright {
namespace {

using Json = nlohmann::ordered_json;

TEST(Sensitivity, SaysWhatPredictSaysOfTheSameChange) {
  const Prediction prediction = testing::large_prediction();
  const Json told = sensitivity_json(prediction);
  EXPECT_EQ(told.at("now").at("step_time_s"), prediction.step_time_s());
  std::size_t compared = 0;
  for (const Json& change : told.at("changes")) {
    if (change.contains("refused")) continue;
    const Prediction changed = predict(with_field(prediction.planned, change.at("set")));
    EXPECT_EQ(change.at("step_time_s"), changed.step_time_s()) << change.at("set");
    ++compared;
  }
  EXPECT_GE(compared, 5);
}

TEST(Sensitivity, ANodeFewerIsSearchedAnew) {
  const Prediction prediction = testing::large_prediction();
  std::int64_t asked_nodes = 0;
  const Json told = sensitivity_json(prediction, [&](const Job& job) {
    asked_nodes = job.cluster.nodes;
    return std::optional<Prediction>(prediction);
  });
  EXPECT_EQ(asked_nodes, prediction.planned.job.cluster.nodes - 1);
  EXPECT_EQ(told.at("changes").back().at("searched"), true);
}

TEST(Sensitivity, WhatCannotBeIsRefusedWithItsReason) {
  const Prediction prediction = testing::large_prediction();
  const Json told = sensitivity_json(prediction, [](const Job&) -> std::optional<Prediction> {
    fail_input("no plan of the space is legal");
  });
  EXPECT_EQ(told.at("changes").back().at("refused"), "no plan of the space is legal");
}

}  // namespace
}  // namespace stepwright
