#pragma once

#include <Eigen/Core>

namespace stepwright::learn {

/// Uncertain knowledge of several constants of the cost model: a normal distribution of their
/// logarithms, with lower and upper limits.
struct LogNormalConstantDistribution {
  Eigen::VectorXd mean;
  Eigen::MatrixXd covariance;
  Eigen::VectorXd least, most;
  /// Factor on the variance of step times between plans; above 1 if runs differ more from
  /// predictions than expected.
  double scale = 1;
};

/// Step times of plans near a point of the cost model's constants, so that updates are linear.
/// Logarithms of step times = `seconds + slopes * (constants - around)`, where constants are
/// logarithms, too.
struct LinearizedStepTimes {
  Eigen::VectorXd around;
  Eigen::VectorXd seconds;  ///< Logarithms of step times in seconds at `around`, one for each plan.
  /// Derivatives of the logarithms of step times by the logarithms of constants; rows: plans;
  /// columns: constants.
  Eigen::MatrixXd slopes;

  [[nodiscard]] Eigen::VectorXd at(const Eigen::VectorXd& constants) const {
    return seconds + slopes * (constants - around);
  }
};

/// Logarithms of measured step times, and the weight of each from 0 (ignored) to 1.
struct MeasuredStepTimeLogarithms {
  Eigen::VectorXd seconds;
  Eigen::VectorXd trust;
};

/// Standard deviation of the logarithm of a plan's step time that no constants explain: the median
/// error of the fit on its own rows is 5 % (docs/accuracy.md), and a normal distribution's median
/// error is two thirds of its deviation.
inline constexpr double kPlanLogTimeDeviation = 0.075;
/// Standard deviation of the logarithm of repeated measurements of one plan: the median over plans
/// that one source measured repeatedly.
inline constexpr double kRepeatedRunLogTimeDeviation = 0.02;

/// Returns the distribution of the constants after measured steps (Bayesian update). Errors have
/// Student's t distribution with 30 degrees of freedom, so that a single bad run counts little
/// (Lange, Little and Taylor 1989). If errors are larger than expected, the widths grow by a common
/// factor with an inverse gamma prior. Returns `prior` if no step has weight.
LogNormalConstantDistribution constant_distribution_after_runs(
    const LogNormalConstantDistribution& prior, const LinearizedStepTimes& times,
    const MeasuredStepTimeLogarithms& steps);

/// Returns, for each plan, the standard deviation of the logarithm of its step time that follows
/// from uncertain constants and from the plan's own deviation.
Eigen::VectorXd plan_log_time_deviations(const LogNormalConstantDistribution& distribution,
                                         const LinearizedStepTimes& times);

}  // namespace stepwright::learn
