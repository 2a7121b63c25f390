#include "stepwright/learn/posterior.h"

#include <Eigen/Dense>
#include <algorithm>

namespace stepwright {
namespace {

constexpr double kFreedom = 30;  ///< Degrees, of Student's distribution.
constexpr int kRounds = 30;
constexpr double kSurpriseFreedom =
    4;  ///< What steps weigh against for the factor on all variances.

constexpr double kVariance = kPlanDeviation * kPlanDeviation + kRunDeviation * kRunDeviation;

/// Variances of the logarithms of seconds by what is not known of the constants.
Eigen::VectorXd variances_of(const Belief& belief, const LinearTimes& times) {
  return (times.slopes * belief.covariance).cwiseProduct(times.slopes).rowwise().sum();
}

/// The normal posterior where step i has the variance `kVariance / weights[i]`.
void condition(Belief& belief, const Belief& prior, const LinearTimes& times,
               const MeasuredSteps& steps, const Eigen::VectorXd& weights) {
  const Eigen::MatrixXd shared = prior.covariance * times.slopes.transpose();
  const Eigen::VectorXd root = weights.cwiseSqrt();
  // With rows scaled by their roots a weight of 0 is a row that says nothing.
  Eigen::MatrixXd within = root.asDiagonal() * (times.slopes * shared) * root.asDiagonal();
  within.diagonal().array() += kVariance;
  const Eigen::LDLT<Eigen::MatrixXd> solver(within);
  const Eigen::VectorXd off = root.cwiseProduct(steps.seconds - times.at(prior.mean));
  const Eigen::MatrixXd gain = shared * root.asDiagonal();
  const Eigen::VectorXd solved = solver.solve(off);
  belief.mean = (prior.mean + gain * solved).cwiseMax(prior.least).cwiseMin(prior.most);
  const double factor = (kSurpriseFreedom + off.dot(solved)) / (kSurpriseFreedom + weights.sum());
  belief.surprise = prior.surprise * std::max(1.0, factor);
  belief.covariance =
      std::max(1.0, factor) * (prior.covariance - gain * solver.solve(gain.transpose()));
}

}  // namespace

Belief learned(const Belief& prior, const LinearTimes& times, const MeasuredSteps& steps) {
  Belief belief = prior;
  if (steps.seconds.size() == 0) return belief;
  Eigen::VectorXd weights = steps.trust;
  for (int round = 0; round < kRounds; ++round) {
    condition(belief, prior, times, steps, weights);
    const Eigen::ArrayXd errors = steps.seconds - times.at(belief.mean);
    const Eigen::ArrayXd far = (errors.square() + variances_of(belief, times).array()) / kVariance;
    weights = steps.trust.array() * (kFreedom + 1) / (kFreedom + far);
  }
  return belief;
}

Eigen::VectorXd deviations(const Belief& belief, const LinearTimes& times) {
  return (variances_of(belief, times).array() + belief.surprise * kPlanDeviation * kPlanDeviation)
      .sqrt();
}

}  // namespace stepwright
