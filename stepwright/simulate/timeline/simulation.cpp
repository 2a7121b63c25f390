#include "stepwright/simulate/timeline/simulation.h"

#include "stepwright/simulate/timeline/engine.h"
#include "stepwright/simulate/timeline/prices.h"

namespace stepwright::simulate {

Simulation simulate_step_program(const step::StepProgram& program, const cost::CostModel& cost,
                                 const std::array<cluster::GroupLayout, plan::kGroupKinds>& layouts,
                                 const plan::Plan& plan, bool record) {
  return simulate_priced_program(program, price_operators(program, cost, layouts, plan.collectives),
                                 cost.contention(), record);
}

Prices price_operators(const step::StepProgram& program, const cost::CostModel& cost,
                       const std::array<cluster::GroupLayout, plan::kGroupKinds>& layouts,
                       const plan::CollectiveAlgorithmChoices& collectives) {
  Prices prices;
  prices.reserve(program.templates.size());
  for (const step::OperatorTemplate& piece : program.templates) {
    cost.price_template_operators(piece, layouts, collectives, prices.emplace_back());
  }
  return prices;
}

}  // namespace stepwright::simulate
