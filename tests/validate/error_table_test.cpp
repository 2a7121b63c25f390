#include "stepwright/validate/error_table.h"

#include <gtest/gtest.h>

namespace stepwright::validate {
namespace {

TEST(ErrorStatistics, OfFiveByHand) {
  const std::vector<double> errors = {0.05, -0.10, 0.20, -0.40, 0.0};
  const ErrorStatistics result = error_statistics(errors);
  EXPECT_EQ(result.used, 5U);
  EXPECT_DOUBLE_EQ(result.median_abs, 0.10);
  EXPECT_DOUBLE_EQ(result.mean_abs, 0.15);
  EXPECT_DOUBLE_EQ(result.p90_abs, 0.40);
  EXPECT_DOUBLE_EQ(result.mean_signed, -0.05);
  EXPECT_DOUBLE_EQ(result.within_10_percent, 0.6);
}

TEST(ErrorStatistics, MedianOfAnEvenNumberIsBetweenTheMiddleTwo) {
  const std::vector<double> errors = {0.1, -0.3};
  EXPECT_DOUBLE_EQ(error_statistics(errors).median_abs, 0.2);
}

TEST(ErrorStatistics, P90IsExceededByATenthAtMost) {
  std::vector<double> errors(10, 0.01);
  errors[3] = 9;
  EXPECT_DOUBLE_EQ(error_statistics(errors).p90_abs, 0.01);
}

TEST(ErrorGroup, CountsRowsNotErrors) {
  ErrorGroup group;
  group.add(0, 0.1);
  group.add(0, -0.3);
  group.add(4, 0.2);
  EXPECT_EQ(group.error_statistics_of_group().used, 2U);
  EXPECT_DOUBLE_EQ(group.error_statistics_of_group().mean_abs, 0.2);
}

TEST(ErrorStatistics, OfNothingIsZero) {
  EXPECT_EQ(error_statistics({}).used, 0U);
  EXPECT_EQ(error_statistics({}).median_abs, 0);
}

}  // namespace
}  // namespace stepwright::validate
