#pragma once

#include <span>

#include "stepwright/cost/laws/operator_law.h"

namespace stepwright::fit {

/// One measured pass (forward or backward) of an operator: the work on which the formula depends,
/// and the seconds.
struct OperatorLawFitRow {
  cost::OperatorPassWork work;
  double seconds = 0;
};

/// Returns the constants of the formula for a class of operators that fit the rows best: least
/// squares of the logarithm of predicted over measured, robust (soft L1, 5 %), with a weak pull to
/// the priors of `kOperatorLawConstants`, at which constants stay that the rows do not determine.
/// Levenberg-Marquardt, deterministic. Fails with `kInput` if there are fewer than eight rows.
cost::OperatorTimeLawConstants fit_operator_law(cost::OperatorClass what,
                                                std::span<const OperatorLawFitRow> rows,
                                                const cost::DevicePeakRates& peaks);

/// Returns a fitted number rounded to the digits that a profile keeps: more than a fit determines,
/// but few enough that all mathematical libraries and processors agree on them, so that a fit gives
/// equal profiles everywhere.
double round_to_profile_digits(double number);

}  // namespace stepwright::fit
