#pragma once

#include <span>
#include <vector>

#include "stepwright/cost/collective_routes.h"
#include "stepwright/cost/laws/collective_constants.h"

namespace stepwright::fit {

/// A timed collective, in the form in which the fit of one operation uses it: the routes of its
/// message (links and protocols) and its seconds.
struct TimedCollectiveRoutes {
  cost::MessageRouteTimes routes;
  double seconds = 0;
};

/// Limits on how far a fit may move the constants of a collective from their start values.
struct CollectiveConstantLimits {
  /// Factor on how far the constants of the inside of a node may move, relative to their documented
  /// spread; below 1 if the start values come from samples of the same devices.
  double inside = 1;
};

/// Returns the constants of one collective operation that predict the samples best: least squares
/// of the logarithm of predicted over measured, robust against outliers (a deviation far above 3 %
/// counts by its size, not its square), with `start` as prior. Alternates between the constants for
/// given protocols and the factors that select protocols, from several first guesses of where
/// protocols change. Deterministic. Constants that no sample shows keep their start values.
cost::CollectiveOperationConstants fit_collective_constants(
    std::span<const TimedCollectiveRoutes> samples, const cost::CollectiveOperationConstants& start,
    CollectiveConstantLimits looseness = {});

}  // namespace stepwright::fit
