#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/csv.h"
#include "stepwright/cost/training_conditions.h"
#include "stepwright/validate/error_table.h"

namespace stepwright::learn {

/// A constant before and after.
struct CalibratedConstant {
  std::string_view key;  ///< Key of docs/formats.md, "Conditions of training".
  std::string of;        ///< Device or framework of the constant.
  double built_in = 0;
  double calibrated = 0;
};

/// A run that was predicted.
struct CalibrationRun {
  std::size_t line = 0;
  std::string id;
  double measured_s = 0;
  double built_in_error = 0;  ///< predicted / measured - 1, with the built-in constants.
  double fitted_error = 0;    ///< Error with the calibrated constants.
  double held_out_error = 0;  ///< Error with the constants of a fit that did not see the run.
  double trust = 1;
  std::string outlier;  ///< Why the fit does not count it; empty when it does.
};

/// A row that no plan expresses, or that has no step.
struct SkippedRun {
  std::size_t line = 0;
  std::string reason;
};

/// The constants of some devices and frameworks, fitted to a person's own runs.
struct Calibration {
  std::vector<std::string> devices;
  std::vector<std::string> frameworks;
  std::string_view moved;  ///< Which constants the runs move: "all", ..., "none".
  std::vector<CalibratedConstant> constants;
  std::vector<CalibrationRun> runs;  ///< Runs in file order.
  std::vector<SkippedRun> skipped;
  validate::ErrorStatistics built_in, fitted, held_out;  ///< Errors of the runs that count.
  cost::TrainingConditions conditions;                   ///< `start` with the calibrated entries.
};

/// Fits the conditions of the runs' devices and frameworks to their steps: the posterior of
/// `learned`, in a few rounds of a numerical derivative. What may move is chosen by runs left out,
/// each predicted by a fit to all others: all constants, all by half, those of frameworks, those of
/// devices, or none; the first of these that does no worse there than `start`, so that the result
/// is never worse. Runs that are off what all others say, by much more than these are, do not
/// count; at most every fourth. The table has the columns of training runs (docs/formats.md). Fails
/// with `kInput`, naming lines, when no run can be predicted.
Calibration calibrate(const CsvTable& table, const cost::TrainingConditions& start, int threads);

}  // namespace stepwright::learn
