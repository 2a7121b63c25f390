#pragma once

#include "stepwright/simulate/timeline/prices.h"
#include "stepwright/simulate/timeline/simulation.h"

namespace stepwright::simulate {

/// Simulates a program whose operators are already priced: `prices` holds, per template, one entry
/// for each operator. Throws `Error{kRuntime}`, naming stage, slot and operator, when a message
/// lacks a partner, when an operator or item waits for a later one, and when nothing can start any
/// more (a deadlock).
///
/// Without `record`, computations that no other stream can tell apart are simulated as one. Events
/// are sorted by stage, then by start.
Simulation play(const step::StepProgram& program, const Prices& prices,
                const cost::Contention& contention, bool record = false);

}  // namespace stepwright::simulate
