#pragma once

#include <span>
#include <vector>

#include "stepwright/cost/collective_routes.h"
#include "stepwright/cost/laws/collective_constants.h"

namespace stepwright::fit {

/// A sample in the form that the fit of one operation uses: the routes of its message and its
/// seconds.
struct TimedRoutes {
  cost::MessageRoutes routes;
  double seconds = 0;
};

/// How far a fit may move the constants from their start values.
struct ConstantLimits {
  /// Factor on the documented spread of the constants for the inside of a node: below 1 when the
  /// start comes from samples of the same devices.
  double inside = 1;
};

/// Returns the constants of one operation that predict the samples best: least squares of the
/// logarithm of predicted over measured, robust against outliers (a deviation far above 3 % counts
/// by its size, not its square), with `start` as prior. Alternates between fitting the constants
/// for given protocols and the selection factors for given constants, from several first guesses of
/// where protocols change. Deterministic. Constants that no sample shows keep their `start`.
cost::OperationConstants fit_constants(std::span<const TimedRoutes> samples,
                                       const cost::OperationConstants& start,
                                       ConstantLimits looseness = {});

}  // namespace stepwright::fit
