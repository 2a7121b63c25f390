#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/csv.h"
#include "stepwright/cost/training_conditions.h"
#include "stepwright/validate/error_table.h"

namespace stepwright::learn {

/// A constant before and after calibration.
struct CalibratedConstant {
  /// Key of the constant in files (docs/formats.md, "Conditions of training").
  std::string_view key;
  std::string of;  ///< Device or framework of the constant.
  double built_in = 0;
  double calibrated = 0;
};

/// A measured run, next to the predictions made for it.
struct CalibrationRun {
  std::size_t line = 0;
  std::string id;
  double measured_s = 0;
  double built_in_error = 0;  ///< Error (predicted / measured - 1) with the built-in constants.
  double fitted_error = 0;    ///< Error with the calibrated constants.
  double held_out_error = 0;  ///< Error with constants fitted without this run.
  double trust = 1;
  std::string outlier;  ///< Why the fit leaves it out as an outlier; empty: it counts.
};

/// A row that cannot be expressed as a plan, or has no step time.
struct SkippedRun {
  std::size_t line = 0;
  std::string reason;
};

/// Constants of devices and frameworks, fitted to a person's own runs.
struct Calibration {
  std::vector<std::string> devices;
  std::vector<std::string> frameworks;
  /// Name of the set of constants that the runs may move: "all", ..., "none".
  std::string_view moved;
  std::vector<CalibratedConstant> constants;
  std::vector<CalibrationRun> runs;  ///< Runs in file order.
  std::vector<SkippedRun> skipped;
  /// Errors of the runs that count, with the constants before, after, and fitted without the run.
  validate::ErrorStatistics built_in, fitted, held_out;
  cost::TrainingConditions conditions;  ///< The start conditions with the calibrated entries.
};

/// Fits the conditions of the runs' devices and frameworks to their step times: the posterior of
/// `learned`, in a few rounds with a numerical derivative. How much may move is chosen by
/// leave-one-out: each run is predicted by a fit to all others. The choices are: all constants, all
/// by half, those of frameworks, those of devices, or none; the first one that does no worse than
/// `start` is taken, so that the result is never worse. Runs that differ much more from a fit to
/// the others than these do from each other do not count; at most one in four. The table has the
/// columns of training runs (docs/formats.md). Fails with `kInput`, naming lines, when no run can
/// be predicted.
Calibration calibrate(const CsvTable& table, const cost::TrainingConditions& start, int threads);

}  // namespace stepwright::learn
