#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/csv.h"
#include "stepwright/cost/training_conditions.h"
#include "stepwright/validate/error_table.h"

namespace stepwright {

/// A constant before and after.
struct CalibratedConstant {
  std::string_view key;  ///< As in docs/formats.md, "Conditions of training".
  double built_in = 0;
  double calibrated = 0;
};

/// A run that was predicted.
struct CalibrationRun {
  std::size_t line = 0;
  std::string id;
  double measured_s = 0;
  double built_in_error = 0;  ///< predicted / measured - 1, with the built-in constants ...
  double fitted_error = 0;    ///< ... with the calibrated ones ...
  double held_out_error = 0;  ///< ... and with those of a fit that did not see the run.
  std::string outlier;        ///< Why the fit does not count it; empty when it does.
};

/// A row that no plan expresses.
struct SkippedRun {
  std::size_t line = 0;
  std::string reason;
};

/// The constants of one device and one framework, fitted to a person's own runs.
struct Calibration {
  std::string device;
  std::string framework;
  std::vector<CalibratedConstant> constants;
  std::vector<CalibrationRun> runs;  ///< In file order.
  std::vector<SkippedRun> skipped;
  ErrorStatistics built_in, fitted, held_out;  ///< Of the runs that count.
  TrainingConditions conditions;               ///< The built-in ones with the calibrated entries.

  /// A fit that predicts a run that it did not see worse than the built-in constants is of no use.
  [[nodiscard]] bool useful() const { return held_out.mean_abs <= built_in.mean_abs; }
};

/// Fits product_rate, narrow_product_rate, memory_rate, inside_rate and network_rate of the runs'
/// device and host_us and step_ms of their framework, starting from and held by the built-in
/// values: least absolute errors of the logarithms of predicted over measured steps, Gauss-Newton
/// with a numerical derivative. Each run is also predicted by a fit without it. Runs that are off
/// what all others say, by much more than these are, do not count; at most every fourth. The table
/// has the columns of training runs (docs/formats.md). Fails with `kInput`, naming lines, when
/// fewer than three runs can be predicted, or when they are of several devices or frameworks.
Calibration calibrate(const CsvTable& table, int threads);

}  // namespace stepwright
