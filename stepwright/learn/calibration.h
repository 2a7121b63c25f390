#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/csv.h"
#include "stepwright/cost/training_conditions.h"
#include "stepwright/validate/error_table.h"

namespace stepwright::learn {

/// A fitted constant of the cost model, for one device or framework, before and after calibration
/// on a user's own runs.
struct CalibratedConstant {
  /// Key of the constant in files of training conditions (fitted constants of training runs;
  /// docs/formats.md, "Conditions of training").
  std::string_view key;
  std::string of;  ///< Name of the device or framework that the constant belongs to.
  double built_in = 0;
  double calibrated = 0;
};

/// A measured run, and the errors of the predictions of its step time.
struct CalibrationRunErrors {
  std::size_t line = 0;
  std::string id;
  double measured_s = 0;
  /// Relative error (predicted / measured - 1) with the constants before calibration.
  double built_in_error = 0;
  /// Relative error (predicted / measured - 1) with the calibrated constants.
  double fitted_error = 0;
  /// Relative error (predicted / measured - 1) with constants calibrated on all runs but this one.
  double held_out_error = 0;
  double trust = 1;
  /// Reason why calibration ignores this run as an outlier; empty: it is used.
  std::string outlier;
};

/// A row of a table of runs that was ignored, with its line and the reason: it describes no valid
/// plan, or has no step time.
struct SkippedRunRow {
  std::size_t line = 0;
  std::string reason;
};

/// Constants of the cost model for devices and frameworks, calibrated on a user's own runs, with
/// the prediction errors.
struct CostModelCalibration {
  std::vector<std::string> devices;
  std::vector<std::string> frameworks;
  /// Name of the set of constants that calibration was allowed to change: "all", ..., "none".
  std::string_view moved;
  std::vector<CalibratedConstant> constants;
  std::vector<CalibrationRunErrors> runs;  ///< Measured runs, in file order.
  std::vector<SkippedRunRow> skipped;
  /// Statistics of the prediction errors over the runs that are not outliers: with the constants
  /// before calibration (`built_in`), after it (`fitted`), and with each run predicted by a
  /// calibration on the others (`held_out`).
  validate::ErrorStatistics built_in, fitted, held_out;
  /// All training conditions (constants of devices and frameworks), with the calibrated values in
  /// place.
  cost::TrainingConditions conditions;
};

/// Calibrates the constants of the runs' devices and frameworks on measured step times (Bayesian;
/// step times are linearised anew a few times). Leave-one-out prediction decides which constants
/// may change (all, all by half, of frameworks, of devices, none), so that the result is never
/// worse than `start`. Up to a quarter of the runs may be ignored as outliers. Fails with `kInput`
/// if no run can be predicted.
CostModelCalibration calibrate_cost_constants(const CsvTable& table,
                                              const cost::TrainingConditions& start, int threads);

}  // namespace stepwright::learn
