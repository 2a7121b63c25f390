#pragma once

#include <Eigen/Core>

namespace stepwright::learn {

/// The distribution of the logarithms of some constants: a normal distribution, cut off at limits.
struct Distribution {
  Eigen::VectorXd mean;
  Eigen::MatrixXd covariance;
  Eigen::VectorXd least, most;
  /// Factor on the variance of plans: above 1 where runs are farther off than was believed.
  double scale = 1;
};

/// Logarithms of predicted seconds as a linear function of the logarithms of constants:
/// `seconds + slopes * (constants - around)`.
struct LinearTimes {
  Eigen::VectorXd around;
  Eigen::VectorXd seconds;  ///< One for each plan.
  Eigen::MatrixXd slopes;   ///< Rows: plans; columns: constants.

  [[nodiscard]] Eigen::VectorXd at(const Eigen::VectorXd& constants) const {
    return seconds + slopes * (constants - around);
  }
};

/// Measured steps: their logarithms, and how far each is trusted, from 0 (not at all) to 1.
struct MeasuredSteps {
  Eigen::VectorXd seconds;
  Eigen::VectorXd trust;
};

/// The deviation of the model on one plan whatever its constants are, of the logarithm of its
/// seconds: the median error of the fit on the rows that it saw is 5 % (docs/accuracy.md), and a
/// normal distribution has two thirds of its deviation as its median error.
inline constexpr double kPlanDeviation = 0.075;
/// Deviation of a measurement that is repeated: the middle of equal plans of one source.
inline constexpr double kRunDeviation = 0.02;

/// The distribution of the constants after these steps. Errors of steps are of Student's
/// distribution with thirty degrees of freedom and the deviation of plan and run, so that one run
/// that is far off counts little: a normal posterior, weighted again until it stands (Lange, Little
/// and Taylor 1989, "Robust statistical modeling using the t distribution"). Where the steps are
/// farther off than prior and deviation say, both are believed wider: the mean of their common
/// factor under an inverse gamma distribution. `prior` is left as it is where no step is trusted.
Distribution learned(const Distribution& prior, const LinearTimes& times,
                     const MeasuredSteps& steps);

/// Deviation of the logarithm of the seconds of each plan: of the constants and of the plan.
Eigen::VectorXd deviations(const Distribution& distribution, const LinearTimes& times);

}  // namespace stepwright::learn
