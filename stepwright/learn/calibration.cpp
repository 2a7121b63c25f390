#include "stepwright/learn/calibration.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <variant>

#include "stepwright/core/error.h"
#include "stepwright/core/parallel.h"
#include "stepwright/fit/middle.h"
#include "stepwright/fit/operators/law_fit.h"
#include "stepwright/learn/learnable_constants.h"
#include "stepwright/learn/run_table.h"
#include "stepwright/learn/timed_plans.h"
#include "stepwright/validate/validation.h"

namespace stepwright::learn {
namespace {

constexpr int kGaussNewtonRounds = 3;
/// A run is an outlier when a fit to the other runs misses it by more than this, and by this many
/// times the median error of the others.
constexpr double kOutlierError = 0.3;
constexpr double kOutlierTimes = 5;
constexpr std::size_t kRunsPerOutlier = 4;

/// How far runs may move constants, as shares of the widths of the prior.
struct Freedom {
  std::string_view name;
  double device = 0;
  double framework = 0;
};
constexpr Freedom kFreedoms[] = {
    {"all", 1, 1}, {"all by half", 0.5, 0.5}, {"frameworks", 0, 1}, {"devices", 1, 0}, {"none"}};

class Calibrator {
 public:
  Calibrator(MeasuredRunTable runs, const cost::TrainingConditions& start, int threads)
      : runs_(std::move(runs)), learnable_(start, jobs_of_plans(runs_.plans)), threads_(threads) {}

  CostModelCalibration calibrate_cost_constants() {
    set_runs();
    for (const Freedom& freedom : kFreedoms) {
      out_.moved = freedom.name;
      fit(freedom);
      judge();
      if (out_.held_out.mean_abs <= out_.built_in.mean_abs) break;
    }
    finish();
    return std::move(out_);
  }

 private:
  void set_runs() {
    const Eigen::Index count = std::ssize(runs_.plans);
    steps_.seconds.resize(count);
    for (Eigen::Index i = 0; i < count; ++i) {
      const MeasuredRun& run = runs_.runs[static_cast<std::size_t>(i)];
      steps_.seconds[i] = std::log(run.seconds);
      out_.runs.push_back(
          {.line = run.line, .id = run.id, .measured_s = run.seconds, .trust = run.trust});
    }
    first_ = linearize_step_times(runs_.plans, learnable_, learnable_.prior().mean, threads_);
    for (Eigen::Index i = 0; i < count; ++i) {
      out_.runs[static_cast<std::size_t>(i)].built_in_error = error(i, learnable_.prior().mean);
    }
  }

  void fit(const Freedom& freedom) {
    prior_ = learnable_.prior();
    Eigen::VectorXd share(prior_.mean.size());
    for (Eigen::Index k = 0; k < share.size(); ++k) {
      share[k] = learnable_.of_device(k) ? freedom.device : freedom.framework;
    }
    prior_.covariance = share.asDiagonal() * prior_.covariance * share.asDiagonal();
    posterior_ = prior_;
    model_ = first_;
    const int rounds = share.isZero() ? 1 : kGaussNewtonRounds;
    for (int round = 0; round < rounds; ++round) {
      if (round > 0)
        model_ = linearize_step_times(runs_.plans, learnable_, posterior_.mean, threads_);
      drop_outliers();
      posterior_ = constant_distribution_after_runs(prior_, model_, steps_);
    }
  }

  [[nodiscard]] LogNormalConstantDistribution fit_without(Eigen::Index row) const {
    MeasuredStepTimeLogarithms others = steps_;
    others.trust[row] = 0;
    return constant_distribution_after_runs(prior_, model_, others);
  }

  /// Returns the linear model's error on a run by a fit to the others.
  [[nodiscard]] double left_out_error(Eigen::Index row) const {
    return model_.at(fit_without(row).mean)[row] - steps_.seconds[row];
  }

  void drop_outliers() {
    steps_.trust.resize(std::ssize(out_.runs));
    for (Eigen::Index row = 0; row < steps_.trust.size(); ++row) {
      CalibrationRunErrors& run = out_.runs[static_cast<std::size_t>(row)];
      steps_.trust[row] = run.trust;
      run.outlier.clear();
    }
    const std::size_t most = out_.runs.size() / kRunsPerOutlier;
    for (std::size_t dropped = 0; dropped < most && drop_one();) ++dropped;
  }

  /// Drops the run that is farthest from a fit to the others, if it is an outlier; true if it
  /// dropped one.
  bool drop_one() {
    std::vector<double> errors;
    Eigen::Index worst = -1;
    double farthest = 0;
    for (Eigen::Index row = 0; row < steps_.trust.size(); ++row) {
      if (steps_.trust[row] == 0) continue;
      const double off = std::abs(left_out_error(row));
      errors.push_back(off);
      if (off <= farthest) continue;
      farthest = off;
      worst = row;
    }
    if (worst < 0) return false;
    const double middle = fit::upper_median(std::move(errors));
    if (farthest <= std::log1p(kOutlierError) || farthest <= kOutlierTimes * middle) return false;
    const double times = std::exp(left_out_error(worst));
    steps_.trust[worst] = 0;
    out_.runs[static_cast<std::size_t>(worst)].outlier = fmt::format(
        "a fit to the other runs predicts {:.3g} times its time; the error on the other runs is "
        "{:.1f}%",
        times, 100 * std::expm1(middle));
    return true;
  }

  [[nodiscard]] double error(Eigen::Index row, const Eigen::VectorXd& logarithms) const {
    const auto index = static_cast<std::size_t>(row);
    return simulated_step_s(runs_.plans[index], learnable_.at(rounded(logarithms), "trial")) /
               runs_.runs[index].seconds -
           1;
  }

  /// Returns the logarithms of the constants, rounded to the digits that a file keeps.
  [[nodiscard]] Eigen::VectorXd rounded(Eigen::VectorXd logarithms) const {
    for (Eigen::Index k = 0; k < logarithms.size(); ++k) {
      if (logarithms[k] != learnable_.prior().mean[k])
        logarithms[k] = fit::round_to_profile_digits(logarithms[k]);
    }
    return logarithms;
  }

  void judge() {
    parallel_for(threads_, out_.runs.size(), [&](std::size_t i) {
      const auto row = static_cast<Eigen::Index>(i);
      out_.runs[i].fitted_error = error(row, posterior_.mean);
      out_.runs[i].held_out_error = error(row, fit_without(row).mean);
    });
    out_.built_in = statistics(&CalibrationRunErrors::built_in_error);
    out_.fitted = statistics(&CalibrationRunErrors::fitted_error);
    out_.held_out = statistics(&CalibrationRunErrors::held_out_error);
  }

  [[nodiscard]] validate::ErrorStatistics statistics(double CalibrationRunErrors::* of) const {
    std::vector<double> errors;
    for (const CalibrationRunErrors& run : out_.runs) {
      if (run.outlier.empty()) errors.push_back(run.*of);
    }
    return validate::error_statistics(errors);
  }

  void finish() {
    const Eigen::VectorXd logarithms = rounded(posterior_.mean);
    for (Eigen::Index k = 0; k < learnable_.size(); ++k) {
      const LearnableConstant before = learnable_.before(k);
      out_.constants.push_back({before.key, before.of, before.value,
                                learnable_.constant_with_logarithm(k, logarithms[k]).value});
    }
    for (const plan::PlannedJob& planned : runs_.plans) {
      add_name(out_.devices, planned.job.cluster.device.name);
      add_name(out_.frameworks, planned.job.framework.name);
    }
    out_.skipped = std::move(runs_.skipped);
    out_.conditions = learnable_.at(
        logarithms,
        fmt::format("calibrated with {} runs of {} under {} of {}, what may move: {}; mean error "
                    "{:.1f}% on runs left out, {:.1f}% before; others: {}",
                    out_.held_out.used, fmt::join(out_.devices, ", "),
                    fmt::join(out_.frameworks, ", "), runs_.table, out_.moved,
                    100 * out_.held_out.mean_abs, 100 * out_.built_in.mean_abs,
                    learnable_.conditions_before_learning().source));
  }

  static void add_name(std::vector<std::string>& names, const std::string& name) {
    const std::string known = name.empty() ? "no framework" : name;
    if (std::ranges::find(names, known) == names.end()) names.push_back(known);
  }

  MeasuredRunTable runs_;
  LearnableConstants learnable_;
  int threads_;
  LogNormalConstantDistribution prior_, posterior_;
  LinearizedStepTimes first_, model_;
  MeasuredStepTimeLogarithms steps_;
  CostModelCalibration out_;
};

}  // namespace

CostModelCalibration calibrate_cost_constants(const CsvTable& table,
                                              const cost::TrainingConditions& start, int threads) {
  if (validate::measurement_table_kind(table) != validate::MeasurementTableKind::kTrainingRuns) {
    fail_input(fmt::format(
        "{}: is not a table of training runs (columns model, measured_metric, measured_value)",
        table.name));
  }
  MeasuredRunTable runs = keep_runs_with_step_time(read_measured_runs(table, nullptr));
  require_usable_measured_run(runs, "no run can be predicted");
  return Calibrator(std::move(runs), start, threads).calibrate_cost_constants();
}

}  // namespace stepwright::learn
