#pragma once

#include <vector>

#include "stepwright/tune/dimensions.h"
#include "stepwright/tune/trial.h"

namespace stepwright {

/// Goes from the best plan of a trial to a neighbour that is faster in simulation, and on until
/// none is: what the closed form ranks wrongly by a little is set right. Neighbours whose lower
/// bound, or whose price less its error (`kPriceError`), is above the best are not simulated.
/// Returns the neighbours of the last plan that fit by their price, by price.
std::vector<Candidate> descend(Trial& trial, const Job& job, const CostModel& cost,
                               const Dimensions& space, double capacity_bytes);
/// As above with a pricer of the job that remembers its blocks.
std::vector<Candidate> descend(Trial& trial, const Job& job, Pricer& pricer,
                               const Dimensions& space, double capacity_bytes);

}  // namespace stepwright
