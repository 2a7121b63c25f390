#pragma once

#include <Eigen/Core>
#include <functional>

namespace stepwright::fit {

/// Parameters within limits, judged by residuals.
struct LeastSquares {
  /// The residuals of a set of parameters, as many on every call, without a unit.
  std::function<Eigen::VectorXd(const Eigen::VectorXd& parameters)> residuals;
  Eigen::VectorXd least, most;  ///< Limits of each parameter, which may be infinite.
  /// Ends when a step lowers the sum of squares, or moves the parameters, by less than this share.
  double tolerance = 1e-10;
};

/// The parameters that have the least sum of squared residuals around `start`, which is moved into
/// the limits first: Levenberg-Marquardt (Eigen's, which is MINPACK's) with forward differences,
/// whose steps end at the limits. A parameter that the residuals push against its limit stands
/// still. Deterministic.
Eigen::VectorXd minimise(const LeastSquares& problem, const Eigen::VectorXd& start);

/// The stand-in for a residual by which those far above 1 count by their size instead of their
/// square: half its square is sqrt(1 + residual^2) - 1 (soft L1).
double soft_l1(double residual);

/// The stand-in for a residual by which those above 1 count by their size: half its square is that
/// of the residual up to 1, and |residual| - 1/2 above (Huber 1964).
double huber(double residual);

}  // namespace stepwright::fit
