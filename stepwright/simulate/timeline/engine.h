#pragma once

#include "stepwright/simulate/timeline/prices.h"
#include "stepwright/simulate/timeline/simulation.h"

namespace stepwright::simulate {

/// `simulate` for operators that are already priced: `prices` holds, per template, one entry for
/// each operator. Throws `Error{kRuntime}` when a message lacks a partner, when an operator or item
/// waits for a later one, and when nothing can start any more (a deadlock), naming stage, slot and
/// operator.
///
/// Without `record`, computations between which no other stream can tell are played as one. Events
/// are sorted by stage, then by start.
Simulation play(const step::StepProgram& program, const Prices& prices,
                const cost::Contention& contention, bool record = false);

}  // namespace stepwright::simulate
