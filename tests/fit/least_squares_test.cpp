#include "stepwright/fit/least_squares.h"

#include <gtest/gtest.h>

#include <cmath>

namespace stepwright::fit {
namespace {

constexpr double kNone = INFINITY;

/// Returns Rosenbrock's function, whose minimum is at (1, 1), within bounds.
LeastSquaresProblem valley(Eigen::Vector2d least, Eigen::Vector2d most) {
  return {.residuals = [](const Eigen::VectorXd& x) -> Eigen::VectorXd {
            return Eigen::Vector2d(1 - x[0], 10 * (x[1] - x[0] * x[0]));
          },
          .least = least,
          .most = most};
}

TEST(LeastSquaresProblem, FindTheLeastOfAValley) {
  const LeastSquaresProblem problem = valley({-kNone, -kNone}, {kNone, kNone});
  const Eigen::VectorXd found = solve_least_squares(problem, Eigen::Vector2d(-1.2, 1));
  EXPECT_NEAR(found[0], 1, 1e-6);
  EXPECT_NEAR(found[1], 1, 1e-6);
  EXPECT_LT(problem.residuals(found).norm(), 1e-6);
}

TEST(LeastSquaresProblem, EndAtALimitAndMoveAlongIt) {
  // With x0 at most 1/2, the least is where x1 = x0^2.
  const LeastSquaresProblem problem = valley({-kNone, -kNone}, {0.5, kNone});
  const Eigen::VectorXd found = solve_least_squares(problem, Eigen::Vector2d(-1.2, 1));
  EXPECT_EQ(found[0], 0.5);
  EXPECT_NEAR(found[1], 0.25, 1e-6);
}

TEST(LeastSquaresProblem, LeaveALimitThatHoldsNothingBack) {
  const LeastSquaresProblem problem = valley({-2, -2}, {kNone, kNone});
  const Eigen::VectorXd found = solve_least_squares(problem, Eigen::Vector2d(-9, -9));
  EXPECT_NEAR(found[0], 1, 1e-6);
  EXPECT_NEAR(found[1], 1, 1e-6);
}

TEST(LeastSquaresProblem, WhatNoResidualShowsStays) {
  const LeastSquaresProblem problem{.residuals = [](const Eigen::VectorXd& x) -> Eigen::VectorXd {
                                      return Eigen::VectorXd::Constant(1, x[0] - 3);
                                    },
                                    .least = Eigen::Vector2d(-kNone, -kNone),
                                    .most = Eigen::Vector2d(kNone, kNone)};
  const Eigen::VectorXd found = solve_least_squares(problem, Eigen::Vector2d(0, 7));
  EXPECT_NEAR(found[0], 3, 1e-6);
  EXPECT_EQ(found[1], 7);
}

TEST(RobustResiduals, AreSquaresWhereSmallAndSizesWhereLarge) {
  for (const double sign : {-1.0, 1.0}) {
    const auto half_square = [](double x) { return x * x / 2; };
    EXPECT_NEAR(soft_l1_residual(sign * 1e-3), sign * 1e-3, 1e-9);
    EXPECT_NEAR(half_square(soft_l1_residual(sign * 1e3)), std::sqrt(1 + 1e6) - 1, 1e-9);
    EXPECT_EQ(huber_residual(sign * 0.5), sign * 0.5);
    EXPECT_NEAR(half_square(huber_residual(sign * 4)), 3.5, 1e-12);
    EXPECT_EQ(std::signbit(huber_residual(sign * 4)), sign < 0);
  }
}

}  // namespace
}  // namespace stepwright::fit
