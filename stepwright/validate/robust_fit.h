#pragma once

#include <Eigen/Core>

namespace stepwright {

/// A linear model of errors, the logarithms of predicted over measured, around some logarithms of
/// constants: `errors + slopes * (logs - around)`.
struct LinearErrors {
  Eigen::VectorXd around;
  Eigen::VectorXd errors;  ///< One for each row.
  Eigen::MatrixXd slopes;  ///< Rows by constants.
};

/// What a fit may do to the constants.
struct LogPriors {
  Eigen::VectorXd centre;
  Eigen::VectorXd deviation;  ///< Of a normal distribution of each logarithm.
  Eigen::VectorXd least, most;
};

/// The logarithms that minimise the absolute errors, each in units of a measurement's error (5 %;
/// below 2 % they are not told apart), plus half the squared deviations from the priors: least
/// squares, weighted again and again. `use` is 0 for rows that do not count, else 1. No logarithm
/// leaves its limits or moves by more than 0.7.
Eigen::VectorXd robust_fit(const LinearErrors& model, const LogPriors& priors,
                           const Eigen::VectorXd& use);

}  // namespace stepwright
