#pragma once

#include <span>

#include "stepwright/cost/laws/operator_law.h"

namespace stepwright::fit {

/// One measured pass: the features that a law uses, and the seconds.
struct LawRow {
  cost::PassWork work;
  double seconds = 0;
};

/// Returns the constants of a class's law that fit the rows best: least squares of the logarithm of
/// predicted over measured, robust (soft L1, 5 %), with a weak pull to the priors of
/// `kLawConstants`, so that constants that the rows do not determine stay at their priors.
/// Levenberg-Marquardt; the same result on every run. Fails with `kInput` when there are fewer than
/// eight rows.
cost::LawConstants fit_law(cost::OperatorClass what, std::span<const LawRow> rows,
                           const cost::DevicePeaks& peaks);

/// Returns a fitted number rounded to the digits that a profile keeps: more than any fit
/// determines, but few enough that mathematical libraries and processors agree on them, so that a
/// fit gives the same profile everywhere.
double round_to_profile_digits(double number);

}  // namespace stepwright::fit
