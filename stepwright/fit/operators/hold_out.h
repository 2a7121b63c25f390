#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "stepwright/fit/operators/device_fit.h"
#include "stepwright/fit/operators/law_fit.h"
#include "stepwright/fit/operators/tree_fit.h"

namespace stepwright::fit {

inline constexpr std::size_t kFewestFitRows = 24;

/// A sample, with everything that a fit uses of it.
struct FitRow {
  const std::string* file = nullptr;
  const OperatorSample* sample = nullptr;
  double seconds = 0;
  double floor_s = 0;     ///< Least seconds at the device's peaks.
  double unfitted_s = 0;  ///< Seconds predicted by the documented defaults.
  cost::PassWork work;
  cost::Features inputs;
  bool kept = true;
};

struct FitSetting {
  cost::OperatorClass what{};
  cost::Pass pass{};
  cost::DevicePeaks peaks;
};

/// Seconds of each row, predicted by fits without the rows of its hidden size.
struct HeldOutPredictions {
  std::vector<double> law, trees, law_times_trees;
};
/// Predicts rows left out, in six folds over the sorted distinct hidden sizes; with a single size,
/// over the rows themselves.
HeldOutPredictions predict_held_out_rows(std::span<const FitRow> rows, const FitSetting& setting);

std::vector<LawRow> law_rows(std::span<const FitRow> rows);
/// Returns rows for a fit of trees. The target is the logarithm of the seconds; for
/// `FitKind::kLawTimesTrees`, of the seconds over the law's.
std::vector<TreeRow> tree_rows(std::span<const FitRow> rows, const cost::OperatorEntry& entry,
                               const FitSetting& setting);
/// Fits the trees of an entry, and sets the least and the most that they add on the fitted rows.
void fit_entry_trees(cost::OperatorEntry& entry, std::span<const FitRow> rows,
                     const FitSetting& setting);
/// Returns the seconds of a row, predicted by a law.
double law_prediction(const cost::LawConstants& law, const FitRow& row, const FitSetting& setting);

FitError prediction_error(std::span<const FitRow> rows, std::span<const double> predicted_s);
FitError unfitted_error(std::span<const FitRow> rows);
std::map<std::string, FitError> errors_by_series(std::span<const FitRow> rows,
                                                 std::span<const double> predicted_s);
/// Returns the lowest and highest value of each quantity of the class.
std::vector<cost::FittedRange> range_of(std::span<const FitRow> rows, cost::OperatorClass what);

}  // namespace stepwright::fit
