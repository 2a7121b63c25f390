#pragma once

#include <Eigen/Core>

namespace stepwright::learn {

/// The distribution of the logarithms of some constants: a normal distribution, cut off at limits.
struct Distribution {
  Eigen::VectorXd mean;
  Eigen::MatrixXd covariance;
  Eigen::VectorXd least, most;
  /// Factor on the variance of plans; above 1 where runs differ more from predictions than
  /// expected.
  double scale = 1;
};

/// Logarithms of predicted seconds as a linear function of the logarithms of constants:
/// `seconds + slopes * (constants - around)`.
struct LinearTimes {
  Eigen::VectorXd around;
  Eigen::VectorXd seconds;  ///< Logarithms of seconds at `around`, one for each plan.
  Eigen::MatrixXd slopes;   ///< Derivatives of `seconds`; rows: plans; columns: constants.

  [[nodiscard]] Eigen::VectorXd at(const Eigen::VectorXd& constants) const {
    return seconds + slopes * (constants - around);
  }
};

/// Measured step times as logarithms, and the trust in each from 0 (none) to 1.
struct MeasuredSteps {
  Eigen::VectorXd seconds;
  Eigen::VectorXd trust;
};

/// Standard deviation of the logarithm of a plan's seconds that remains whatever the constants are:
/// the median error of the fit on the rows that it used is 5 % (docs/accuracy.md), and the median
/// error of a normal distribution is two thirds of its deviation.
inline constexpr double kPlanDeviation = 0.075;
/// Standard deviation of repeated measurements: the median over equal plans of one source.
inline constexpr double kRunDeviation = 0.02;

/// Returns the distribution of the constants after these steps. Errors of steps follow Student's
/// distribution with thirty degrees of freedom and the deviation of plan and run, so that one run
/// that is far off counts little: a normal posterior, reweighted until it converges (Lange, Little
/// and Taylor 1989, "Robust statistical modeling using the t distribution"). If the steps are
/// farther off than prior and deviation predict, both are widened by the mean of their common
/// factor under an inverse gamma distribution. Returns `prior` where no step is trusted.
Distribution learned(const Distribution& prior, const LinearTimes& times,
                     const MeasuredSteps& steps);

/// Returns the standard deviation of the logarithm of each plan's seconds, from the constants and
/// from the plan itself.
Eigen::VectorXd deviations(const Distribution& distribution, const LinearTimes& times);

}  // namespace stepwright::learn
