#pragma once

#include <Eigen/Core>
#include <functional>

namespace stepwright::fit {

/// A least-squares problem: parameters within limits, and the residuals to make small.
struct LeastSquaresProblem {
  /// Returns the residuals (dimensionless) for a set of parameters; their number is the same on
  /// every call.
  std::function<Eigen::VectorXd(const Eigen::VectorXd& parameters)> residuals;
  Eigen::VectorXd least, most;  ///< Lower and upper limits of each parameter; may be infinite.
  /// The search ends when a step lowers the sum of squares, or moves the parameters, by less than
  /// this share.
  double tolerance = 1e-10;
};

/// Returns the parameters with the least sum of squared residuals near `start`, which is first
/// moved into the limits. Uses Levenberg-Marquardt (Eigen's version of MINPACK's) with forward
/// differences and steps that end at the limits; a parameter that the residuals push against its
/// limit does not move. Deterministic.
Eigen::VectorXd solve_least_squares(const LeastSquaresProblem& problem,
                                    const Eigen::VectorXd& start);

/// Returns a value whose square replaces that of a residual in least squares, so that residuals far
/// above 1 count by their size: half its square is sqrt(1 + residual^2) - 1 (soft L1).
double soft_l1_residual(double residual);

/// Returns a value whose square replaces that of a residual in least squares, so that residuals
/// above 1 count by their size: half its square is that of the residual up to 1, and |residual| -
/// 1/2 above (Huber 1964).
double huber_residual(double residual);

}  // namespace stepwright::fit
