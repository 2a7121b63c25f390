#pragma once

#include <array>
#include <string>
#include <vector>

#include "stepwright/cost/cost_model.h"

namespace stepwright::interleave {

/// One piece of an interleaved schedule: collectives (at most one per link class) and computations
/// of a forward and a backward that run at the same time, followed by a barrier. The computations
/// neither need the collectives' results nor produce their inputs.
struct InterleavedBlock {
  /// Ids of the forward's computations in this block, in execution order.
  std::vector<std::string> forward;
  std::vector<std::string> backward;
  std::vector<std::string> communication;
  /// Seconds of all computations in this block if no collective slows them.
  double compute_s = 0;
  double seconds = 0;
};

/// Seconds of the collective that runs on each link class, indexed by `cost::LinkClass`; 0: none.
using LinkSeconds = std::array<double, cost::kLinkClasses>;

/// Returns how many seconds of computation (counted at full speed) fit beside collectives that
/// start together. Beside several collectives, computation is slowed by the largest of their
/// factors.
double compute_seconds_beside_collectives(const LinkSeconds& collectives,
                                          const cost::OverlapSlowdownFactors& contention);

/// Returns the seconds until these collectives and `compute_s` seconds of computation, all started
/// together, have ended; computation is slowed while a collective runs.
double interleaved_block_seconds(const LinkSeconds& collectives, double compute_s,
                                 const cost::OverlapSlowdownFactors& contention);

}  // namespace stepwright::interleave
