#include "stepwright/learn/posterior.h"

#include <Eigen/Dense>
#include <algorithm>

namespace stepwright::learn {
namespace {

constexpr double kFreedom = 30;  ///< Degrees of freedom of Student's distribution.
constexpr int kRounds = 30;
/// Weight of the prior against steps for the factor on all variances, in degrees of freedom.
constexpr double kScaleFreedom = 4;

constexpr double kVariance = kPlanLogTimeDeviation * kPlanLogTimeDeviation +
                             kRepeatedRunLogTimeDeviation * kRepeatedRunLogTimeDeviation;

/// Returns the variances of the logarithms of seconds that come from the uncertainty of constants.
Eigen::VectorXd variances_of(const LogNormalConstantDistribution& distribution,
                             const LinearizedStepTimes& times) {
  return (times.slopes * distribution.covariance).cwiseProduct(times.slopes).rowwise().sum();
}

/// Conditions a distribution on steps: the normal posterior in which step i has the variance
/// `kVariance / weights[i]`.
void condition(LogNormalConstantDistribution& distribution,
               const LogNormalConstantDistribution& prior, const LinearizedStepTimes& times,
               const MeasuredStepTimeLogarithms& steps, const Eigen::VectorXd& weights) {
  const Eigen::MatrixXd shared = prior.covariance * times.slopes.transpose();
  const Eigen::VectorXd root = weights.cwiseSqrt();
  // Rows are scaled by the roots of weights, so that a weight of 0 is a row without effect.
  Eigen::MatrixXd within = root.asDiagonal() * (times.slopes * shared) * root.asDiagonal();
  within.diagonal().array() += kVariance;
  const Eigen::LDLT<Eigen::MatrixXd> solver(within);
  const Eigen::VectorXd off = root.cwiseProduct(steps.seconds - times.at(prior.mean));
  const Eigen::MatrixXd gain = shared * root.asDiagonal();
  const Eigen::VectorXd solved = solver.solve(off);
  distribution.mean = (prior.mean + gain * solved).cwiseMax(prior.least).cwiseMin(prior.most);
  const double factor = (kScaleFreedom + off.dot(solved)) / (kScaleFreedom + weights.sum());
  distribution.scale = prior.scale * std::max(1.0, factor);
  distribution.covariance =
      std::max(1.0, factor) * (prior.covariance - gain * solver.solve(gain.transpose()));
}

}  // namespace

LogNormalConstantDistribution constant_distribution_after_runs(
    const LogNormalConstantDistribution& prior, const LinearizedStepTimes& times,
    const MeasuredStepTimeLogarithms& steps) {
  LogNormalConstantDistribution distribution = prior;
  if (steps.seconds.size() == 0) return distribution;
  Eigen::VectorXd weights = steps.trust;
  for (int round = 0; round < kRounds; ++round) {
    condition(distribution, prior, times, steps, weights);
    const Eigen::ArrayXd errors = steps.seconds - times.at(distribution.mean);
    const Eigen::ArrayXd far =
        (errors.square() + variances_of(distribution, times).array()) / kVariance;
    weights = steps.trust.array() * (kFreedom + 1) / (kFreedom + far);
  }
  return distribution;
}

Eigen::VectorXd plan_log_time_deviations(const LogNormalConstantDistribution& distribution,
                                         const LinearizedStepTimes& times) {
  return (variances_of(distribution, times).array() +
          distribution.scale * kPlanLogTimeDeviation * kPlanLogTimeDeviation)
      .sqrt();
}

}  // namespace stepwright::learn
