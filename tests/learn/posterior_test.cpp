#include "stepwright/learn/posterior.h"

#include <gtest/gtest.h>

#include <cmath>

namespace stepwright::learn {
namespace {

/// Returns times in which one constant changes all plans equally.
LinearizedStepTimes common_rate(Eigen::Index plans) {
  return {.around = Eigen::VectorXd::Zero(1),
          .seconds = Eigen::VectorXd::Zero(plans),
          .slopes = Eigen::MatrixXd::Ones(plans, 1)};
}

LogNormalConstantDistribution wide_prior(Eigen::Index constants = 1, double deviation = 1) {
  return {.mean = Eigen::VectorXd::Zero(constants),
          .covariance = deviation * deviation * Eigen::MatrixXd::Identity(constants, constants),
          .least = Eigen::VectorXd::Constant(constants, -10),
          .most = Eigen::VectorXd::Constant(constants, 10)};
}

MeasuredStepTimeLogarithms measured_steps(const Eigen::VectorXd& seconds) {
  return {.seconds = seconds, .trust = Eigen::VectorXd::Ones(seconds.size())};
}

TEST(Posterior, WithoutStepsNothingIsLearned) {
  const LogNormalConstantDistribution distribution = constant_distribution_after_runs(
      wide_prior(), common_rate(0), measured_steps(Eigen::VectorXd(0)));
  EXPECT_EQ(distribution.mean[0], 0);
  EXPECT_EQ(distribution.covariance(0, 0), 1);
}

TEST(Posterior, WeighsOneStepAgainstThePriorByTheirVariances) {
  // With a prior as wide as a step, half of the step's deviation would be used if it were normal.
  const double deviation = std::hypot(kPlanLogTimeDeviation, kRepeatedRunLogTimeDeviation);
  const LogNormalConstantDistribution distribution =
      constant_distribution_after_runs(wide_prior(1, deviation), common_rate(1),
                                       measured_steps(Eigen::VectorXd::Constant(1, deviation)));
  EXPECT_GT(distribution.mean[0], 0.4 * deviation);
  EXPECT_LT(distribution.mean[0], 0.6 * deviation);
  EXPECT_LT(distribution.covariance(0, 0), deviation * deviation);
}

TEST(Posterior, TakesTheMiddleOfTheStepsNotTheirMean) {
  const LogNormalConstantDistribution distribution = constant_distribution_after_runs(
      wide_prior(), common_rate(5), measured_steps(Eigen::VectorXd{{0.2, 0.2, 0.2, 0.2, 3.0}}));
  EXPECT_NEAR(distribution.mean[0], 0.2, 0.02);
}

TEST(Posterior, StepsThatAreNotTrustedChangeNothing) {
  MeasuredStepTimeLogarithms steps = measured_steps(Eigen::VectorXd{{0.1, 0.6}});
  const LogNormalConstantDistribution both =
      constant_distribution_after_runs(wide_prior(), common_rate(2), steps);
  steps.trust[1] = 0;
  const LogNormalConstantDistribution first =
      constant_distribution_after_runs(wide_prior(), common_rate(2), steps);
  const LogNormalConstantDistribution alone = constant_distribution_after_runs(
      wide_prior(), common_rate(1), measured_steps(Eigen::VectorXd{{0.1}}));
  EXPECT_NEAR(first.mean[0], alone.mean[0], 1e-12);
  EXPECT_GT(both.mean[0], first.mean[0]);
}

TEST(Posterior, NoConstantLeavesItsLimits) {
  LogNormalConstantDistribution prior = wide_prior();
  prior.most[0] = 0.05;
  const LogNormalConstantDistribution distribution = constant_distribution_after_runs(
      prior, common_rate(3), measured_steps(Eigen::VectorXd{{0.3, 0.3, 0.3}}));
  EXPECT_EQ(distribution.mean[0], 0.05);
}

TEST(Posterior, StepsFartherOffThanBelievedMakeAllPlansLessSure) {
  const LinearizedStepTimes times = common_rate(2);
  const auto sure = [&](double seconds) {
    return plan_log_time_deviations(
        constant_distribution_after_runs(wide_prior(1, 0.1), times,
                                         measured_steps(Eigen::VectorXd::Constant(2, seconds))),
        times)[0];
  };
  EXPECT_NEAR(sure(0.05), sure(0), 0.05 * sure(0)) << "as far off as was believed";
  EXPECT_GT(sure(2), 2 * sure(0));
}

TEST(Posterior, AStepTellsOfPlansThatShareItsConstantsAlone) {
  LinearizedStepTimes times = common_rate(2);
  times.slopes = Eigen::MatrixXd::Identity(2, 2);
  times.around = Eigen::VectorXd::Zero(2);
  const LinearizedStepTimes first{
      .around = times.around, .seconds = times.seconds.head(1), .slopes = times.slopes.topRows(1)};
  const LogNormalConstantDistribution distribution = constant_distribution_after_runs(
      wide_prior(2), first, measured_steps(Eigen::VectorXd{{0.5}}));
  const Eigen::VectorXd after = plan_log_time_deviations(distribution, times);
  const Eigen::VectorXd before = plan_log_time_deviations(wide_prior(2), times);
  EXPECT_LT(after[0], before[0]);
  EXPECT_DOUBLE_EQ(after[1], before[1]);
  EXPECT_EQ(times.at(distribution.mean)[1], 0);
}

}  // namespace
}  // namespace stepwright::learn
