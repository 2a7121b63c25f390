#pragma once

#include "stepwright/simulate/timeline/prices.h"
#include "stepwright/simulate/timeline/simulation.h"

namespace stepwright::simulate {

/// Simulates a step program whose operators are already priced. `prices`: [template][operator].
/// `record`: keeps events, sorted by stage, then by start; without it, computations that no other
/// stream can tell apart are simulated as one. Throws `Error{kRuntime}`, naming stage, slot and
/// operator, if a message lacks a partner, if an operator or item waits for a later one, and on a
/// deadlock.
Simulation simulate_priced_program(const step::StepProgram& program, const Prices& prices,
                                   const cost::OverlapSlowdownFactors& contention,
                                   bool record = false);

}  // namespace stepwright::simulate
