#include "stepwright/tune/training_run.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "small_jobs.h"

namespace stepwright::tune {
namespace {

/// 3,600 steps of 16 x 2,048 tokens, two seconds each: two hours of eight devices.
constexpr double kTokens = 3600.0 * 16 * 2048;

TEST(TrainingRunCost, IsWorkedOutByHand) {
  const TrainingRunCost cost =
      training_run_cost(small_tune_job(), 2.0, 0, {.tokens = kTokens, .price_per_gpu_hour = 2.5});
  EXPECT_DOUBLE_EQ(cost.days, 2.0 / 24);
  EXPECT_DOUBLE_EQ(cost.gpu_hours, 16);
  ASSERT_TRUE(cost.cost);
  EXPECT_DOUBLE_EQ(*cost.cost, 40);
}

TEST(TrainingRunCost, HasNoCostWithoutAPrice) {
  nlohmann::ordered_json answer = {{"step_time_s", 2.0}};
  add_training_run_cost_json(answer, small_tune_job(), 0,
                             {.tokens = kTokens, .price_per_gpu_hour = {}});
  EXPECT_TRUE(answer.contains("days"));
  EXPECT_TRUE(answer.contains("gpu_hours"));
  EXPECT_FALSE(answer.contains("cost"));
}

}  // namespace
}  // namespace stepwright::tune
