#pragma once

#include <span>

#include "stepwright/cost/laws/operator_law.h"

namespace stepwright::fit {

/// One measured pass, as a law sees it.
struct LawRow {
  cost::PassWork work;
  double seconds = 0;
};

/// The constants of the law of a class that come nearest to the rows: least squares of the
/// logarithm of predicted over measured, robust (soft L1, 5 %), with a weak pull to the priors of
/// `kLawConstants` so that what the rows do not tell stays there. Levenberg-Marquardt; the same
/// result on every run. Fails with `kInput` when there are fewer than eight rows.
cost::LawConstants fit_law(cost::OperatorClass what, std::span<const LawRow> rows,
                           const cost::DevicePeaks& peaks);

/// A fitted number with the digits that a profile keeps: more than any fit knows, fewer than what
/// mathematical libraries and processors differ by, so that a fit gives the same profile anywhere.
double kept_digits(double number);

}  // namespace stepwright::fit
