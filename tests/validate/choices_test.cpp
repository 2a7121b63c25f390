#include "stepwright/validate/choices.h"

#include <gtest/gtest.h>

namespace stepwright::validate {
namespace {

TableRowPrediction run(const char* alike, double predicted, double measured,
                       const char* plan = "") {
  return {.id = "a-1", .predicted = predicted, .measured = measured, .alike = alike, .plan = plan};
}

TEST(Choices, RegretAndTauOfTwoGroupsByHand) {
  const std::vector<TableRowPrediction> rows = {
      run("right", 1, 10), run("right", 2, 11), run("right", 3, 12),   // in order
      run("wrong", 1, 15), run("wrong", 2, 10), run("wrong", 3, 20)};  // the second is faster
  const PlanChoiceQuality choices = ranking_quality_of_predictions(rows);
  EXPECT_EQ(choices.groups, 2U);
  EXPECT_EQ(choices.best_chosen, 1U);
  EXPECT_DOUBLE_EQ(choices.mean_regret, 0.25);
  EXPECT_DOUBLE_EQ(choices.median_regret, 0.25);
  EXPECT_DOUBLE_EQ(choices.worst_regret, 0.5);
  EXPECT_DOUBLE_EQ(choices.median_tau, (1 + 1.0 / 3) / 2);
}

TEST(Choices, GroupsNeedThreeDifferentTimes) {
  const std::vector<TableRowPrediction> rows = {
      run("two", 1, 10),  run("two", 2, 11), run("same", 1, 10), run("same", 2, 10),
      run("same", 3, 11), run("", 1, 1),     run("", 2, 2),      run("", 3, 3)};
  EXPECT_EQ(ranking_quality_of_predictions(rows).groups, 0U);
}

// Measured twice a plan is one of three; alone its first run would have been the best.
TEST(Choices, RunsOfOnePlanCountAsOne) {
  const std::vector<TableRowPrediction> rows = {run("g", 2, 10, "a"), run("g", 2, 14, "a"),
                                                run("g", 1, 11, "b"), run("g", 3, 13, "c")};
  const PlanChoiceQuality choices = ranking_quality_of_predictions(rows);
  EXPECT_EQ(choices.groups, 1U);
  EXPECT_EQ(choices.best_chosen, 1U);
  EXPECT_DOUBLE_EQ(choices.median_tau, 1);
  const std::vector<TableRowPrediction> twice = {run("g", 1, 10, "a"), run("g", 1, 11, "a"),
                                                 run("g", 1, 12, "a")};
  EXPECT_EQ(ranking_quality_of_predictions(twice).groups, 0U);
}

TEST(Choices, EqualPredictionsAreNoOrder) {
  const std::vector<TableRowPrediction> rows = {run("g", 1, 10), run("g", 1, 11), run("g", 1, 12)};
  const PlanChoiceQuality choices = ranking_quality_of_predictions(rows);
  EXPECT_DOUBLE_EQ(choices.median_tau, 0);
  EXPECT_EQ(choices.best_chosen, 1U) << "the first of the file";
}

}  // namespace
}  // namespace stepwright::validate
