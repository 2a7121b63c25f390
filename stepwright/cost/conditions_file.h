#pragma once

#include <string>
#include <vector>

#include "stepwright/cost/training_conditions.h"
#include "stepwright/plan/files/memory_conditions.h"

namespace stepwright::cost {

/// Returns the YAML text of a training conditions file (constants fitted to whole runs), with
/// `memory` as its entries of memory per framework.
std::string training_conditions_yaml(const TrainingConditions& all,
                                     const std::vector<plan::FrameworkExtraMemory>& memory);

}  // namespace stepwright::cost
