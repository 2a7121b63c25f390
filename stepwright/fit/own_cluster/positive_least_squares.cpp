#include "stepwright/fit/own_cluster/positive_least_squares.h"

#include <Eigen/Dense>
#include <cmath>

namespace stepwright {
namespace {

constexpr double kFarOff = 0.05;
constexpr int kReweightings = 30;

/// The solution in which the columns that came out negative are left out, worst first.
Eigen::VectorXd solve_positive(const Eigen::MatrixXd& parts, const Eigen::VectorXd& ones) {
  std::vector<Eigen::Index> kept;
  for (Eigen::Index i = 0; i < parts.cols(); ++i) {
    if (parts.col(i).squaredNorm() > 0) kept.push_back(i);
  }
  while (!kept.empty()) {
    Eigen::MatrixXd used(parts.rows(), static_cast<Eigen::Index>(kept.size()));
    for (std::size_t i = 0; i < kept.size(); ++i) {
      used.col(static_cast<Eigen::Index>(i)) = parts.col(kept[i]);
    }
    const Eigen::VectorXd found = used.colPivHouseholderQr().solve(ones);
    Eigen::Index worst = 0;
    if (found.minCoeff(&worst) < 0) {
      kept.erase(kept.begin() + worst);
      continue;
    }
    Eigen::VectorXd all = Eigen::VectorXd::Zero(parts.cols());
    for (std::size_t i = 0; i < kept.size(); ++i)
      all[kept[i]] = found[static_cast<Eigen::Index>(i)];
    return all;
  }
  return Eigen::VectorXd::Zero(parts.cols());
}

/// Rows as shares of what was measured, so that the sum of each is to be 1.
Eigen::MatrixXd shares(std::span<const LinearRow> rows) {
  const auto columns = static_cast<Eigen::Index>(rows.front().parts.size());
  Eigen::MatrixXd matrix(static_cast<Eigen::Index>(rows.size()), columns);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (Eigen::Index c = 0; c < columns; ++c) {
      matrix(static_cast<Eigen::Index>(r), c) =
          rows[r].parts[static_cast<std::size_t>(c)] / rows[r].seconds;
    }
  }
  return matrix;
}

}  // namespace

std::vector<double> fit_positive(std::span<const LinearRow> rows) {
  if (rows.empty()) return {};
  Eigen::MatrixXd matrix = shares(rows);
  // Unknowns of very different sizes: columns of one size each.
  Eigen::RowVectorXd scale = matrix.cwiseAbs().colwise().maxCoeff();
  for (Eigen::Index c = 0; c < scale.size(); ++c) {
    if (scale[c] == 0) scale[c] = 1;
    matrix.col(c) /= scale[c];
  }
  Eigen::VectorXd weights = Eigen::VectorXd::Ones(matrix.rows());
  Eigen::VectorXd unknowns;
  for (int pass = 0; pass < kReweightings; ++pass) {
    const Eigen::MatrixXd weighted = weights.asDiagonal() * matrix;
    unknowns = solve_positive(weighted, weights);
    const Eigen::VectorXd errors =
        (matrix * unknowns - Eigen::VectorXd::Ones(matrix.rows())).cwiseAbs();
    weights = errors.unaryExpr([](double e) { return e <= kFarOff ? 1 : std::sqrt(kFarOff / e); });
  }
  std::vector<double> result;
  for (Eigen::Index c = 0; c < unknowns.size(); ++c) result.push_back(unknowns[c] / scale[c]);
  return result;
}

double predicted_s(const LinearRow& row, std::span<const double> unknowns) {
  double sum = 0;
  for (std::size_t i = 0; i < unknowns.size(); ++i) sum += row.parts[i] * unknowns[i];
  return sum;
}

}  // namespace stepwright
