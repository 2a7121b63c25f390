#include "stepwright/fit/own_cluster/computation_law_fit.h"

#include <Eigen/Core>
#include <cmath>

#include "stepwright/fit/least_squares.h"

namespace stepwright::fit {
namespace {

constexpr double kFarOff = 0.05;
constexpr Eigen::Index kUnknowns = 3;

/// Returns, for each sample, the start, FLOPs and bytes over its seconds: multiplied by the law's
/// constants, a row should sum to 1.
Eigen::MatrixXd parts_of(const std::vector<OwnComputationSample>& samples) {
  Eigen::MatrixXd parts(std::ssize(samples), kUnknowns);
  for (Eigen::Index i = 0; i < parts.rows(); ++i) {
    const OwnComputationSample& sample = samples[static_cast<std::size_t>(i)];
    parts.row(i) << 1, sample.flops, sample.bytes;
    parts.row(i) /= sample.seconds;
  }
  return parts;
}

}  // namespace

cost::ComputationTimeLaw fit_computation_time_law(
    const std::vector<OwnComputationSample>& samples) {
  Eigen::MatrixXd parts = parts_of(samples);
  // The unknowns have very different sizes, so columns are scaled to one size.
  Eigen::RowVectorXd scale = parts.colwise().maxCoeff();
  Eigen::VectorXd start = Eigen::VectorXd::Zero(kUnknowns);
  for (Eigen::Index i = 0; i < kUnknowns; ++i) {
    if (scale[i] == 0) {
      scale[i] = 1;
      continue;
    }
    parts.col(i) /= scale[i];
    start[i] = 1.0 / kUnknowns;
  }
  const LeastSquaresProblem squares{
      .residuals = [&parts](const Eigen::VectorXd& unknowns) -> Eigen::VectorXd {
        return ((parts * unknowns).array() - 1).unaryExpr([](double r) {
          return huber_residual(r / kFarOff);
        });
      },
      .least = Eigen::VectorXd::Zero(kUnknowns),
      .most = Eigen::VectorXd::Constant(kUnknowns, INFINITY)};
  const Eigen::VectorXd found =
      solve_least_squares(squares, start).cwiseQuotient(scale.transpose());
  return {.kind = samples.front().kind,
          .phase = samples.front().phase,
          .dtype = samples.front().dtype,
          .start_s = found[0],
          .s_per_flop = found[1],
          .s_per_byte = found[2]};
}

double predicted_s(const cost::ComputationTimeLaw& law, const OwnComputationSample& sample) {
  return law.seconds(sample.flops, sample.bytes);
}

}  // namespace stepwright::fit
