#include "stepwright/validate/robust_fit.h"

#include <Eigen/Dense>

namespace stepwright {
namespace {

constexpr double kNoise = 0.05;
constexpr double kFloor = 0.02;
constexpr double kFarthest = 0.7;
constexpr double kDamping = 0.7;
constexpr int kRounds = 40;

}  // namespace

Eigen::VectorXd robust_fit(const LinearErrors& model, const LogPriors& priors,
                           const Eigen::VectorXd& use) {
  const Eigen::VectorXd precision = priors.deviation.array().square().inverse();
  const Eigen::VectorXd least = priors.least.cwiseMax((model.around.array() - kFarthest).matrix());
  const Eigen::VectorXd most = priors.most.cwiseMin((model.around.array() + kFarthest).matrix());
  Eigen::VectorXd logs = model.around;
  for (int round = 0; round < kRounds; ++round) {
    const Eigen::VectorXd errors = model.errors + model.slopes * (logs - model.around);
    const Eigen::VectorXd weights = use.array() / (kNoise * errors.array().abs().max(kFloor));
    Eigen::MatrixXd left = model.slopes.transpose() * weights.asDiagonal() * model.slopes;
    left.diagonal() += precision;
    const Eigen::VectorXd right = -model.slopes.transpose() * weights.cwiseProduct(errors) -
                                  precision.cwiseProduct(logs - priors.centre);
    logs += kDamping * left.ldlt().solve(right);
    logs = logs.cwiseMax(least).cwiseMin(most);
  }
  return logs;
}

}  // namespace stepwright
