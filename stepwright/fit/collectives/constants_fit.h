#pragma once

#include <span>
#include <vector>

#include "stepwright/cost/collective_routes.h"
#include "stepwright/cost/laws/collective_constants.h"

namespace stepwright::fit {

/// A sample as the fit of one operation sees it.
struct TimedRoutes {
  cost::Routes routes;
  double seconds = 0;
};

/// How far the constants may go from those that the fit starts with.
struct Looseness {
  /// Factor on the documented spread of the constants that say how a node's inside behaves: below 1
  /// when the start comes from samples of the same devices.
  double inside = 1;
};

/// Constants of one operation that predict the samples best: least squares of the logarithm of
/// predicted over measured, robust against outliers (a deviation far above 3 % counts by its size,
/// not its square), with `start` as prior. Alternates between the constants for given protocols and
/// the library's beliefs for given constants, from several first guesses of where the protocols
/// change. Deterministic. What no sample shows stays at `start`.
cost::OperationConstants fit_constants(std::span<const TimedRoutes> samples,
                                       const cost::OperationConstants& start,
                                       Looseness looseness = {});

}  // namespace stepwright::fit
