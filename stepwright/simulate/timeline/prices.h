#pragma once

#include <array>
#include <vector>

#include "stepwright/cost/cost_model.h"
#include "stepwright/step/program.h"

namespace stepwright::simulate {

/// Seconds and link class of every operator of a program: [template][operator].
using Prices = std::vector<std::vector<cost::OperatorTime>>;

/// Returns the seconds and link class of every operator of a program: [template][operator].
Prices price_operators(const step::StepProgram& program, const cost::CostModel& cost,
                       const std::array<cluster::GroupLayout, plan::kGroupKinds>& layouts,
                       const plan::CollectiveAlgorithmChoices& collectives);

}  // namespace stepwright::simulate
