#pragma once

#include <array>
#include <vector>

#include "stepwright/cost/cost_model.h"
#include "stepwright/step/program.h"

namespace stepwright {

/// Seconds and links of every operator of every template, in the program's order.
using Prices = std::vector<std::vector<OperatorTime>>;

/// Prices every operator of a program.
Prices price_operators(const StepProgram& program, const CostModel& cost,
                       const std::array<GroupLayout, kGroupKinds>& layouts,
                       const Collectives& collectives);

}  // namespace stepwright
