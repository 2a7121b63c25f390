#include "stepwright/fit/least_squares.h"

#include <algorithm>
#include <cmath>
#include <unsupported/Eigen/LevenbergMarquardt>
#include <utility>

namespace stepwright::fit {
namespace {

constexpr double kDifference = 1e-6;  ///< Step of a parameter, for the derivative.
constexpr int kMostEvaluations = 1000;

/// The problem in the form that Eigen requires. Parameters outside of the limits count as the
/// nearest ones within.
class Residuals : public Eigen::DenseFunctor<double> {
 public:
  Residuals(const LeastSquaresProblem& problem, const Eigen::VectorXd& start)
      : DenseFunctor(static_cast<int>(start.size()), count(problem, start)), problem_(problem) {}

  int operator()(const Eigen::VectorXd& parameters, Eigen::VectorXd& out) const {
    const Eigen::VectorXd found = problem_.residuals(within(parameters));
    out.setZero(values());
    out.head(found.size()) = found;
    return 0;
  }

  int df(const Eigen::VectorXd& parameters, Eigen::MatrixXd& slopes) const {
    const Eigen::VectorXd at = within(parameters);
    Eigen::VectorXd here(values()), there(values());
    (*this)(at, here);
    for (Eigen::Index i = 0; i < at.size(); ++i) {
      const double step = at[i] + kDifference > problem_.most[i] ? -kDifference : kDifference;
      Eigen::VectorXd moved = at;
      moved[i] += step;
      (*this)(moved, there);
      slopes.col(i) = (there - here) / step;
      const double uphill = slopes.col(i).dot(here);
      const bool pushed =
          (at[i] <= problem_.least[i] && uphill > 0) || (at[i] >= problem_.most[i] && uphill < 0);
      if (pushed) slopes.col(i).setZero();
    }
    return 0;
  }

  [[nodiscard]] Eigen::VectorXd within(const Eigen::VectorXd& parameters) const {
    return parameters.cwiseMax(problem_.least).cwiseMin(problem_.most);
  }

 private:
  /// Returns the number of residuals, at least one for each parameter, as Eigen requires; added
  /// ones are 0.
  static int count(const LeastSquaresProblem& problem, const Eigen::VectorXd& start) {
    return static_cast<int>(std::max(problem.residuals(start).size(), start.size()));
  }

  const LeastSquaresProblem& problem_;
};

}  // namespace

Eigen::VectorXd solve_least_squares(const LeastSquaresProblem& problem,
                                    const Eigen::VectorXd& start) {
  Residuals residuals(problem, start);
  Eigen::VectorXd parameters = residuals.within(start);
  Eigen::LevenbergMarquardt<Residuals> search(residuals);
  search.setFtol(problem.tolerance);
  search.setXtol(problem.tolerance);
  search.setMaxfev(kMostEvaluations);
  auto status = search.minimizeInit(parameters);
  while (status == Eigen::LevenbergMarquardtSpace::NotStarted ||
         status == Eigen::LevenbergMarquardtSpace::Running) {
    status = search.minimizeOneStep(parameters);
    parameters = residuals.within(parameters);
  }
  return parameters;
}

double soft_l1_residual(double residual) {
  return residual * std::sqrt(2 / (1 + std::sqrt(1 + residual * residual)));
}

double huber_residual(double residual) {
  const double size = std::fabs(residual);
  return size <= 1 ? residual : std::copysign(std::sqrt(2 * size - 1), residual);
}

}  // namespace stepwright::fit
