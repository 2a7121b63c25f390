#include "stepwright/validate/robust_fit.h"

#include <gtest/gtest.h>

namespace stepwright {
namespace {

/// Runs that are all off by `errors`, and one constant that moves them all alike.
LinearErrors common_error(const Eigen::VectorXd& errors) {
  return {.around = Eigen::VectorXd::Zero(1),
          .errors = errors,
          .slopes = Eigen::MatrixXd::Ones(errors.size(), 1)};
}

LogPriors prior(double deviation) {
  return {.centre = Eigen::VectorXd::Zero(1),
          .deviation = Eigen::VectorXd::Constant(1, deviation),
          .least = Eigen::VectorXd::Constant(1, -10),
          .most = Eigen::VectorXd::Constant(1, 10)};
}

TEST(RobustFit, TakesTheMiddleOfTheErrorsNotTheirMean) {
  const Eigen::VectorXd errors{{0.2, 0.2, 0.2, 0.2, 3.0}};
  const Eigen::VectorXd logs = robust_fit(common_error(errors), prior(1), Eigen::VectorXd::Ones(5));
  EXPECT_NEAR(logs[0], -0.2, 0.01);
}

TEST(RobustFit, APriorHoldsTheConstant) {
  // The pull of one run is 1 / 0.05 whatever its error, that of the prior is log / deviation^2:
  // they balance at -0.05 with a deviation of 0.05.
  const Eigen::VectorXd errors{{0.5}};
  const Eigen::VectorXd logs =
      robust_fit(common_error(errors), prior(0.05), Eigen::VectorXd::Ones(1));
  EXPECT_NEAR(logs[0], -0.05, 1e-6);
}

TEST(RobustFit, RowsThatDoNotCountChangeNothing) {
  const Eigen::VectorXd errors{{0.1, 0.6}};
  const Eigen::VectorXd logs = robust_fit(common_error(errors), prior(1), Eigen::VectorXd{{1, 0}});
  EXPECT_NEAR(logs[0], -0.1, 1e-3);
}

TEST(RobustFit, StaysInsideTheLimits) {
  LogPriors narrow = prior(1);
  narrow.least[0] = -0.05;
  const Eigen::VectorXd errors{{0.3, 0.3}};
  EXPECT_NEAR(robust_fit(common_error(errors), narrow, Eigen::VectorXd::Ones(2))[0], -0.05, 1e-12);
}

TEST(RobustFit, AConstantThatNothingShowsStaysAtItsPrior) {
  LinearErrors model = common_error(Eigen::VectorXd{{0.3, 0.2}});
  model.slopes.setZero();
  EXPECT_EQ(robust_fit(model, prior(1), Eigen::VectorXd::Ones(2))[0], 0);
}

}  // namespace
}  // namespace stepwright
