#pragma once

#include <array>
#include <string>
#include <vector>

#include "stepwright/cost/cost_model.h"

namespace stepwright::interleave {

/// Operators that run together, followed by a barrier: at most one collective of each link class,
/// and computations of both strands that neither need the collectives' results nor compute their
/// inputs.
struct Block {
  std::vector<std::string> forward;  ///< Computations of the forward strand, in execution order.
  std::vector<std::string> backward;
  std::vector<std::string> communication;
  double compute_s = 0;  ///< Seconds of the computations of both strands without overlap.
  double seconds = 0;
};

/// Seconds of a collective on each link class; 0: none.
using LinkSeconds = std::array<double, cost::kLinkClasses>;

/// Returns the amount of computation (in seconds without overlap) that runs during collectives that
/// start together. Computation beside several collectives is slowed by the largest of their
/// factors.
double hidden_seconds(const LinkSeconds& collectives, const cost::Contention& contention);

/// Returns the seconds of a block of these collectives and `compute_s` seconds of computation,
/// which all start together.
double block_seconds(const LinkSeconds& collectives, double compute_s,
                     const cost::Contention& contention);

}  // namespace stepwright::interleave
