#include "stepwright/report/memory_curves.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/report/plans.h"

namespace stepwright::report {
namespace {

using Json = nlohmann::ordered_json;

TEST(MemoryCurves, AreLargestAtThePeakOfEachStage) {
  const simulate::PlanPrediction prediction = testing::large_prediction();
  const Json stages = memory_curves_json(prediction).at("stages");
  ASSERT_EQ(stages.size(), prediction.memory.stages.size());
  for (std::size_t i = 0; i < stages.size(); ++i) {
    std::int64_t largest = 0;
    for (const auto& filling : stages[i].at("fillings")) {
      const auto kinds = filling.get<std::vector<std::int64_t>>();
      largest = std::max(largest, std::accumulate(kinds.begin(), kinds.end(), std::int64_t{0}));
    }
    EXPECT_EQ(largest, static_cast<std::int64_t>(prediction.memory.stages[i].peak_bytes));
  }
}

TEST(MemoryCurves, GoForwardInTime) {
  const Json stages = memory_curves_json(testing::small_prediction()).at("stages");
  for (const Json& stage : stages) {
    double before_s = 0;
    for (const Json& point : stage.at("curve")) {
      EXPECT_GE(point[0].get<double>(), before_s);
      EXPECT_LT(point[1].get<std::size_t>(), stage.at("fillings").size());
      before_s = point[0];
    }
  }
}

}  // namespace
}  // namespace stepwright::report
