#pragma once

#include <string>
#include <vector>

#include "stepwright/cost/training_conditions.h"
#include "stepwright/plan/files/memory_conditions.h"

namespace stepwright::cost {

/// Returns the text of a conditions file that also has entries of `memory`.
std::string conditions_yaml(const TrainingConditions& all,
                            const std::vector<plan::MemoryConditions>& memory);

}  // namespace stepwright::cost
