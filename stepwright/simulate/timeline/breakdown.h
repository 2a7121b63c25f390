#pragma once

#include <span>

#include "stepwright/simulate/timeline/player.h"
#include "stepwright/simulate/timeline/simulation.h"

namespace stepwright::simulate {

/// The result of a simulation without its events, from what every stage has booked until the end of
/// its last operator: the step ends with the last stage, and the others wait for it.
Simulation conclude(std::span<const Account> accounts, std::span<const double> ends_s);

}  // namespace stepwright::simulate
