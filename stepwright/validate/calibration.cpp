#include "stepwright/validate/calibration.h"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <set>
#include <variant>

#include "stepwright/cluster/catalog.h"
#include "stepwright/core/error.h"
#include "stepwright/core/parallel.h"
#include "stepwright/cost/device_defaults.h"
#include "stepwright/fit/operators/law_fit.h"
#include "stepwright/validate/robust_fit.h"
#include "stepwright/validate/rows/row_prediction.h"
#include "stepwright/validate/rows/run_row.h"
#include "stepwright/validate/validation.h"

namespace stepwright {
namespace {

constexpr std::size_t kFewestRuns = 3;
constexpr int kGaussNewtonRounds = 3;
constexpr double kLogStep = 0.05;  ///< For the derivative.
/// A run is an outlier when a fit to the others misses it by more than this and by this many times
/// what they are off in the middle.
constexpr double kOutlierError = 0.3;
constexpr double kOutlierTimes = 5;
constexpr std::size_t kRunsPerOutlier = 4;

/// A constant of a device or of a framework, and how far runs may move it.
struct Adjustable {
  std::string_view key;
  double DeviceConditions::* of_device = nullptr;
  double FrameworkConditions::* of_framework = nullptr;
  double deviation = 0;  ///< Of the logarithm.
  double least = 0;
  double most = 0;
};

/// How much the built-in values of a key differ between generations and frameworks, and what other
/// clocks, cables and versions can do beside.
constexpr Adjustable kAdjustables[] = {
    {"product_rate", &DeviceConditions::product_rate, nullptr, 0.07, 0.1, 2},
    {"narrow_product_rate", &DeviceConditions::narrow_product_rate, nullptr, 0.09, 0.1, 2},
    {"memory_rate", &DeviceConditions::memory_rate, nullptr, 0.07, 0.1, 3},
    {"inside_rate", &DeviceConditions::inside_rate, nullptr, 0.12, 0.1, 3},
    {"network_rate", &DeviceConditions::network_rate, nullptr, 0.18, 0.1, 3},
    {"host_us", nullptr, &FrameworkConditions::host_us, 0.25, 1, 1e4},
    {"step_ms", nullptr, &FrameworkConditions::step_ms, 0.4, 1, 1e5}};
constexpr auto kAdjustableCount = static_cast<Eigen::Index>(std::size(kAdjustables));

/// Both entries that runs move.
struct Entries {
  DeviceConditions device;
  FrameworkConditions framework;

  [[nodiscard]] double get(const Adjustable& one) const {
    return one.of_device != nullptr ? device.*one.of_device : framework.*one.of_framework;
  }
  void set(const Adjustable& one, double value) {
    (one.of_device != nullptr ? device.*one.of_device : framework.*one.of_framework) = value;
  }
};

template <class Entry>
void replace(std::vector<Entry>& entries, const Entry& entry, std::string Entry::* name) {
  std::erase_if(entries, [&](const Entry& other) { return other.*name == entry.*name; });
  entries.push_back(entry);
}

TrainingConditions with_entries(const Entries& entries, std::string source) {
  TrainingConditions all = built_in_conditions();
  all.source = std::move(source);
  replace(all.devices, entries.device, &DeviceConditions::device);
  replace(all.frameworks, entries.framework, &FrameworkConditions::framework);
  return all;
}

class Calibrator {
 public:
  Calibrator(const CsvTable& table, int threads) : table_(table), threads_(threads) {}

  Calibration calibrate() {
    read_runs();
    start_entries();
    set_priors();
    Eigen::VectorXd logs = priors_.centre;
    use_ = Eigen::VectorXd::Ones(std::ssize(rows_));
    for (int round = 0; round < kGaussNewtonRounds; ++round) {
      model_ = linear_errors(logs);
      drop_outliers();
      logs = robust_fit(model_, priors_, use_);
    }
    finish(logs);
    return std::move(out_);
  }

 private:
  void read_runs() {
    const std::vector<std::variant<RowResult, Skipped>> outcomes = first_outcomes();
    std::vector<RunRow> kept;
    std::set<std::string> devices, frameworks;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      const std::size_t line = table_.rows[i].line;
      if (const auto* skipped = std::get_if<Skipped>(&outcomes[i])) {
        const std::string& detail = skipped->detail;
        out_.skipped.push_back({line, skipped->reason + (detail.empty() ? "" : ": " + detail)});
        continue;
      }
      const auto& result = std::get<RowResult>(outcomes[i]);
      devices.insert(result.groups[1]);
      frameworks.insert(result.groups[2]);
      out_.runs.push_back({line, result.id, result.measured, result.error});
      kept.push_back(std::move(rows_[i]));
    }
    rows_ = std::move(kept);
    check_enough();
    out_.device = the_one(devices, "devices");
    out_.framework = the_one(frameworks, "frameworks");
  }

  std::vector<std::variant<RowResult, Skipped>> first_outcomes() {
    std::vector<std::variant<RowResult, Skipped>> outcomes(table_.rows.size());
    rows_.resize(table_.rows.size());
    parallel_for(threads_, rows_.size(), [&](std::size_t i) {
      auto read = read_run_row(table_, table_.rows[i]);
      if (auto* skipped = std::get_if<Skipped>(&read)) {
        outcomes[i] = *skipped;
        return;
      }
      rows_[i] = std::get<RunRow>(std::move(read));
      outcomes[i] = predict_run(rows_[i], built_in_conditions());
    });
    return outcomes;
  }

  void check_enough() const {
    if (rows_.size() >= kFewestRuns) return;
    std::string text = fmt::format("{}: {} runs can be predicted; a calibration needs at least {}",
                                   table_.name, rows_.size(), kFewestRuns);
    for (const SkippedRun& skipped : out_.skipped) {
      text += fmt::format("\n{}:{}: {}", table_.name, skipped.line, skipped.reason);
    }
    fail_input(text);
  }

  [[nodiscard]] std::string the_one(const std::set<std::string>& names,
                                    std::string_view what) const {
    if (names.size() == 1) return *names.begin();
    fail_input(fmt::format("{}: the runs are of several {} ({}); give those of one", table_.name,
                           what, fmt::join(names, ", ")));
  }

  void start_entries() {
    const Device device = built_in_device(out_.device);
    const TrainingConditions& built_in = built_in_conditions();
    entries_ = {
        .device =
            conditions_of(built_in, device.name, name_of(kGenerationNames, generation_of(device))),
        .framework = conditions_of(built_in, Framework{.name = out_.framework, .version = ""})};
    entries_.device.device = out_.device;
    entries_.framework.framework = out_.framework;
  }

  void set_priors() {
    for (Eigen::VectorXd* each :
         {&priors_.centre, &priors_.deviation, &priors_.least, &priors_.most}) {
      each->resize(kAdjustableCount);
    }
    for (Eigen::Index k = 0; k < kAdjustableCount; ++k) {
      const Adjustable& one = kAdjustables[k];
      priors_.least[k] = std::log(one.least);
      priors_.most[k] = std::log(one.most);
      priors_.centre[k] = std::log(std::clamp(entries_.get(one), one.least, one.most));
      priors_.deviation[k] = one.deviation;
    }
  }

  [[nodiscard]] Entries entries_of(const Eigen::VectorXd& logs) const {
    Entries entries = entries_;
    for (Eigen::Index k = 0; k < kAdjustableCount; ++k) {
      if (logs[k] != priors_.centre[k]) entries.set(kAdjustables[k], std::exp(logs[k]));
    }
    return entries;
  }

  /// The logarithm of predicted over measured of one run.
  [[nodiscard]] double error(Eigen::Index row, const Eigen::VectorXd& logs) const {
    const auto outcome = predict_run(rows_[row], with_entries(entries_of(logs), "trial"));
    const auto& result = std::get<RowResult>(outcome);
    return std::log(result.predicted / result.measured);
  }

  [[nodiscard]] LinearErrors linear_errors(const Eigen::VectorXd& logs) const {
    const Eigen::Index rows = std::ssize(rows_);
    Eigen::MatrixXd errors(rows, kAdjustableCount + 1);
    parallel_for(threads_, static_cast<std::size_t>(errors.size()), [&](std::size_t index) {
      const auto row = static_cast<Eigen::Index>(index) % rows;
      const auto column = static_cast<Eigen::Index>(index) / rows;
      Eigen::VectorXd moved = logs;
      if (column > 0) moved[column - 1] += kLogStep;
      errors(row, column) = error(row, moved);
    });
    const Eigen::VectorXd base = errors.col(0);
    return {.around = logs,
            .errors = base,
            .slopes = (errors.rightCols(kAdjustableCount).colwise() - base) / kLogStep};
  }

  [[nodiscard]] Eigen::VectorXd fit_without(Eigen::Index row) const {
    Eigen::VectorXd use = use_;
    use[row] = 0;
    return robust_fit(model_, priors_, use);
  }

  /// The linear model's error of a run by a fit to the others.
  [[nodiscard]] double left_out_error(Eigen::Index row) const {
    return model_.errors[row] + model_.slopes.row(row).dot(fit_without(row) - model_.around);
  }

  void drop_outliers() {
    const std::size_t most = rows_.size() / kRunsPerOutlier;
    use_.setOnes();
    for (CalibrationRun& run : out_.runs) run.outlier.clear();
    for (std::size_t dropped = 0; dropped < most && drop_one();) ++dropped;
  }

  /// Drops the run that is farthest off what the others say, if it is an outlier.
  bool drop_one() {
    std::vector<double> errors;
    Eigen::Index worst = -1;
    double farthest = 0;
    for (Eigen::Index row = 0; row < use_.size(); ++row) {
      if (use_[row] == 0) continue;
      const double off = std::abs(left_out_error(row));
      errors.push_back(off);
      if (off <= farthest) continue;
      farthest = off;
      worst = row;
    }
    if (worst < 0) return false;
    const auto middle = errors.begin() + std::ssize(errors) / 2;
    std::ranges::nth_element(errors, middle);
    if (farthest <= std::log1p(kOutlierError) || farthest <= kOutlierTimes * *middle) return false;
    use_[worst] = 0;
    out_.runs[worst].outlier = fmt::format(
        "a fit to the other runs predicts {:.3g} times its time; those it misses by {:.1f} %",
        std::exp(left_out_error(worst)), 100 * std::expm1(*middle));
    return true;
  }

  void finish(const Eigen::VectorXd& logs) {
    Entries entries = entries_of(logs);
    for (const Adjustable& one : kAdjustables) {
      entries.set(one, kept_digits(entries.get(one)));
      out_.constants.push_back({one.key, entries_.get(one), entries.get(one)});
    }
    judge(entries);
    out_.conditions = with_entries(
        entries, fmt::format("calibrated with {} runs of {} under {} of {}; mean error {:.1f} % on "
                             "runs left out, {:.1f} % before; others: {}",
                             out_.held_out.used, out_.device, out_.framework, table_.name,
                             100 * out_.held_out.mean_abs, 100 * out_.built_in.mean_abs,
                             built_in_conditions().source));
  }

  void judge(const Entries& entries) {
    const TrainingConditions fitted = with_entries(entries, "trial");
    parallel_for(threads_, rows_.size(), [&](std::size_t i) {
      const auto row = static_cast<Eigen::Index>(i);
      out_.runs[i].fitted_error = std::get<RowResult>(predict_run(rows_[i], fitted)).error;
      out_.runs[i].held_out_error = std::expm1(error(row, fit_without(row)));
    });
    out_.built_in = statistics(&CalibrationRun::built_in_error);
    out_.fitted = statistics(&CalibrationRun::fitted_error);
    out_.held_out = statistics(&CalibrationRun::held_out_error);
  }

  [[nodiscard]] ErrorStatistics statistics(double CalibrationRun::* error) const {
    std::vector<double> errors;
    for (const CalibrationRun& run : out_.runs) {
      if (run.outlier.empty()) errors.push_back(run.*error);
    }
    return error_statistics(errors);
  }

  const CsvTable& table_;
  int threads_;
  std::vector<RunRow> rows_;
  Entries entries_;  ///< The built-in ones.
  LogPriors priors_;
  LinearErrors model_;
  Eigen::VectorXd use_;  ///< 0 for outliers.
  Calibration out_;
};

}  // namespace

Calibration calibrate(const CsvTable& table, int threads) {
  if (table_kind(table) != TableKind::kTrainingRuns) {
    fail_input(
        fmt::format("{}: is no table of training runs (columns model, measured_metric, "
                    "measured_value)",
                    table.name));
  }
  return Calibrator(table, threads).calibrate();
}

}  // namespace stepwright
