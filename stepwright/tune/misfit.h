#pragma once

#include <string>
#include <vector>

#include "stepwright/tune/dimensions.h"
#include "stepwright/tune/tune.h"

namespace stepwright {

/// What a person is told of the smallest plan of a space in which none fits: by how much, and where
/// the optimizer's states could lie on the hosts and the job does not say so, how to look for that.
std::vector<std::string> misfit_notes(const Job& job, const Dimensions& space,
                                      const TunedPlan& smallest);

}  // namespace stepwright
