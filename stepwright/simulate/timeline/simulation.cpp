#include "stepwright/simulate/timeline/simulation.h"

#include "stepwright/simulate/timeline/engine.h"
#include "stepwright/simulate/timeline/prices.h"

namespace stepwright::simulate {

Simulation simulate(const step::StepProgram& program, const cost::CostModel& cost,
                    const std::array<cluster::GroupLayout, plan::kGroupKinds>& layouts,
                    const plan::Plan& plan, bool record) {
  return play(program, price_operators(program, cost, layouts, plan.collectives), cost.contention(),
              record);
}

Prices price_operators(const step::StepProgram& program, const cost::CostModel& cost,
                       const std::array<cluster::GroupLayout, plan::kGroupKinds>& layouts,
                       const plan::Collectives& collectives) {
  Prices prices;
  prices.reserve(program.templates.size());
  for (const step::Template& piece : program.templates) {
    cost.price(piece, layouts, collectives, prices.emplace_back());
  }
  return prices;
}

}  // namespace stepwright::simulate
