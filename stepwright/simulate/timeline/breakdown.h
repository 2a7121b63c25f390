#pragma once

#include <span>

#include "stepwright/simulate/timeline/player.h"
#include "stepwright/simulate/timeline/simulation.h"

namespace stepwright::simulate {

/// Returns the result of a simulation, without recorded events, from where the time of each stage
/// went until its last operator ended (`accounts`) and when that was (`ends_s`). The step ends with
/// the last stage; the other stages wait for it.
Simulation simulation_from_stage_time_accounts(std::span<const StageTimeAccount> accounts,
                                               std::span<const double> ends_s);

}  // namespace stepwright::simulate
