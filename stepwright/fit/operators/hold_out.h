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

/// One timed forward or backward of an operator, with everything that the fit of operator times
/// uses of it.
struct OperatorFitRow {
  const std::string* file = nullptr;
  const OperatorSample* sample = nullptr;
  double seconds = 0;
  /// Least possible seconds of the forward or backward, at the peak rates of the device.
  double floor_s = 0;
  /// Seconds of the forward or backward that the documented default constants predict.
  double unfitted_s = 0;
  cost::OperatorPassWork work;
  cost::Features inputs;
  bool kept = true;
};

struct FitSetting {
  cost::OperatorClass what{};
  cost::OperatorPass pass{};
  cost::DevicePeakRates peaks;
};

/// Predicted seconds of each row, by fits that did not use the rows of its hidden size; one list
/// for each kind of fit.
struct HeldOutPredictions {
  std::vector<double> law, trees, law_times_trees;
};
/// Predicts each row by fits without its hidden size, in six folds over the sorted distinct hidden
/// sizes; if there is a single size, over the rows themselves.
HeldOutPredictions predict_rows_by_cross_validation(std::span<const OperatorFitRow> rows,
                                                    const FitSetting& setting);

std::vector<OperatorLawFitRow> law_rows(std::span<const OperatorFitRow> rows);
/// Converts timed operators for a fit of boosted trees. The value to predict is the logarithm of
/// the seconds; for `FitModelKind::kLawTimesTrees`, of the seconds over those that the fitted
/// formula predicts.
std::vector<BoostedTreeFitRow> boosted_tree_rows(std::span<const OperatorFitRow> rows,
                                                 const cost::OperatorClassFit& entry,
                                                 const FitSetting& setting);
/// Fits the boosted trees of an operator class's entry, and sets the limits of their output: the
/// least and the greatest on the fitted rows.
void fit_operator_boosted_trees(cost::OperatorClassFit& entry, std::span<const OperatorFitRow> rows,
                                const FitSetting& setting);
/// Returns the seconds that a law (formula with fitted constants) predicts for one timed operator.
double seconds_by_fitted_law(const cost::OperatorTimeLawConstants& law, const OperatorFitRow& row,
                             const FitSetting& setting);

OperatorFitErrors prediction_error_summary(std::span<const OperatorFitRow> rows,
                                           std::span<const double> predicted_s);
OperatorFitErrors unfitted_error(std::span<const OperatorFitRow> rows);
std::map<std::string, OperatorFitErrors> errors_by_series(std::span<const OperatorFitRow> rows,
                                                          std::span<const double> predicted_s);
/// Returns, for each quantity on which the times of an operator class depend, the lowest and the
/// highest value in the rows.
std::vector<cost::FittedSizeRange> fitted_quantity_ranges(std::span<const OperatorFitRow> rows,
                                                          cost::OperatorClass what);

}  // namespace stepwright::fit
