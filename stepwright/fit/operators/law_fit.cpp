#include "stepwright/fit/operators/law_fit.h"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <vector>

#include "stepwright/core/error.h"

namespace stepwright::fit {
namespace {

constexpr std::size_t kFewestRows = 8;
constexpr std::size_t kMostRows = 2500;  ///< Most rows of a fit; more are thinned evenly.
constexpr double kRobust = 0.05;         ///< Residuals above this count linearly.
constexpr double kPull = 0.03;           ///< Weight of a prior, for each logarithm, at 300 rows.
constexpr int kMostSteps = 60;
constexpr double kStep = 1e-5;  ///< Step of a logarithm, for the derivative.

/// The fit of one law, over the logarithms of its constants.
class LawProblem {
 public:
  LawProblem(cost::OperatorClass what, std::span<const OperatorLawFitRow> rows,
             const cost::DevicePeakRates& peaks)
      : rows_(thinned(rows)), peaks_(peaks), bounded_(cost::can_be_compute_bound(what)) {
    for (const cost::LawConstant& constant : cost::kOperatorLawConstants) {
      if (cost::uses(what, constant)) constants_.push_back(&constant);
    }
    pull_ = kPull * std::sqrt(static_cast<double>(rows_.size()) / 300);
  }

  [[nodiscard]] Eigen::VectorXd priors() const {
    Eigen::VectorXd logs(size());
    for (Eigen::Index i = 0; i < size(); ++i) logs[i] = std::log(constant(i).prior);
    return logs;
  }

  [[nodiscard]] cost::OperatorTimeLawConstants law(const Eigen::VectorXd& logs) const {
    cost::OperatorTimeLawConstants law;
    for (Eigen::Index i = 0; i < size(); ++i) {
      const double value = std::exp(logs[i]);
      law.*constant(i).value = is_peak_share(constant(i)) ? std::min(value, 1.0) : value;
    }
    return law;
  }

  /// Returns the logarithms of predicted over measured, then the pulls to the priors.
  [[nodiscard]] Eigen::VectorXd residuals(const Eigen::VectorXd& logs) const {
    const cost::OperatorTimeLawConstants constants = law(logs);
    Eigen::VectorXd out(std::ssize(rows_) + size());
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const std::array<double, 2> seconds =
          cost::fitted_law_seconds(constants, rows_[i]->work, peaks_);
      out[static_cast<Eigen::Index>(i)] = std::log((seconds[0] + seconds[1]) / rows_[i]->seconds);
    }
    out.tail(size()) = pull_ * (logs - priors());
    return out;
  }

  [[nodiscard]] Eigen::MatrixXd derivative(const Eigen::VectorXd& logs,
                                           const Eigen::VectorXd& at) const {
    Eigen::MatrixXd out(at.size(), size());
    for (Eigen::Index i = 0; i < size(); ++i) {
      Eigen::VectorXd moved = logs;
      moved[i] += kStep;
      out.col(i) = (residuals(moved) - at) / kStep;
    }
    return out;
  }

 private:
  static std::vector<const OperatorLawFitRow*> thinned(std::span<const OperatorLawFitRow> rows) {
    std::vector<const OperatorLawFitRow*> kept;
    const std::size_t count = std::min(rows.size(), kMostRows);
    for (std::size_t i = 0; i < count; ++i) kept.push_back(&rows[i * rows.size() / count]);
    return kept;
  }
  /// True for a share of a peak that cannot exceed 1: the bytes of products and attention are
  /// counted exactly, while those of vector kernels are a convention.
  [[nodiscard]] bool is_peak_share(const cost::LawConstant& constant) const {
    return bounded_ && cost::is_peak_share(constant);
  }
  [[nodiscard]] Eigen::Index size() const { return std::ssize(constants_); }
  [[nodiscard]] const cost::LawConstant& constant(Eigen::Index i) const {
    return *constants_[static_cast<std::size_t>(i)];
  }

  std::vector<const OperatorLawFitRow*> rows_;
  cost::DevicePeakRates peaks_;
  bool bounded_ = false;
  std::vector<const cost::LawConstant*> constants_;
  double pull_ = 0;
};

/// Returns the soft-L1 loss: quadratic for small residuals, linear for large ones.
double loss(const Eigen::VectorXd& residuals) {
  return ((residuals.array() / kRobust).square() + 1).sqrt().sum() - residuals.size();
}

Eigen::VectorXd weights(const Eigen::VectorXd& residuals) {
  return ((residuals.array() / kRobust).square() + 1).sqrt().inverse();
}

}  // namespace

cost::OperatorTimeLawConstants fit_operator_law(cost::OperatorClass what,
                                                std::span<const OperatorLawFitRow> rows,
                                                const cost::DevicePeakRates& peaks) {
  if (rows.size() < kFewestRows) {
    fail_input(fmt::format("{}: {} rows; a law needs at least {}",
                           name_of(cost::kOperatorClassNames, what), rows.size(), kFewestRows));
  }
  const LawProblem problem(what, rows, peaks);
  Eigen::VectorXd logs = problem.priors();
  Eigen::VectorXd at = problem.residuals(logs);
  double damping = 1e-2;
  for (int step = 0; step < kMostSteps && damping < 1e8; ++step) {
    const Eigen::MatrixXd slope = problem.derivative(logs, at);
    const Eigen::MatrixXd weighted = weights(at).asDiagonal() * slope;
    Eigen::MatrixXd normal = slope.transpose() * weighted;
    normal.diagonal() *= 1 + damping;
    normal.diagonal().array() += 1e-12;
    const Eigen::VectorXd move =
        normal.ldlt().solve(weighted.transpose() * at).cwiseMax(-1).cwiseMin(1);
    const Eigen::VectorXd moved = logs - move;
    const Eigen::VectorXd there = problem.residuals(moved);
    const double gain = loss(at) - loss(there);
    if (!(gain > 0)) {
      damping *= 4;
      continue;
    }
    logs = moved;
    at = there;
    damping = std::max(damping / 4, 1e-9);
    if (gain < 1e-7 * loss(at)) break;
  }
  cost::OperatorTimeLawConstants law = problem.law(logs);
  for (const cost::LawConstant& constant : cost::kOperatorLawConstants) {
    law.*constant.value = round_to_profile_digits(law.*constant.value);
  }
  return law;
}

double round_to_profile_digits(double number) { return std::stod(fmt::format("{:.4g}", number)); }

}  // namespace stepwright::fit
