#pragma once

#include <array>
#include <string>
#include <vector>

#include "stepwright/cost/cost_model.h"

namespace stepwright::interleave {

/// Operators that run together, with a barrier behind: at most one collective of each link class,
/// and computation of both strands that neither needs its result nor makes what it sends.
struct Block {
  std::vector<std::string> forward;  ///< Computations, in execution order.
  std::vector<std::string> backward;
  std::vector<std::string> communication;
  double compute_s = 0;  ///< Seconds of both strands' computation alone.
  double seconds = 0;
};

/// Seconds of collectives by link class; 0: none.
using LinkSeconds = std::array<double, cost::kLinkClasses>;

/// How much computation, in its seconds alone, runs while collectives last that start together: it
/// is as many times slower as the slowest factor beside it says.
double hidden_seconds(const LinkSeconds& collectives, const cost::Contention& contention);

/// Seconds of a block of these collectives and so much computation, all of which start together.
double block_seconds(const LinkSeconds& collectives, double compute_s,
                     const cost::Contention& contention);

}  // namespace stepwright::interleave
