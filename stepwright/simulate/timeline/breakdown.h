#pragma once

#include <span>

#include "stepwright/simulate/timeline/player.h"
#include "stepwright/simulate/timeline/simulation.h"

namespace stepwright::simulate {

/// Returns the result of a simulation, without events. `accounts`: the time that every stage has
/// booked until the end of its last operator; `ends_s`: those ends. The step ends with the last
/// stage, for which the other stages wait.
Simulation finish_simulation(std::span<const StageTimeAccount> accounts,
                             std::span<const double> ends_s);

}  // namespace stepwright::simulate
