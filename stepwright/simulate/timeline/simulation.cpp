#include "stepwright/simulate/timeline/simulation.h"

#include "stepwright/simulate/timeline/engine.h"
#include "stepwright/simulate/timeline/prices.h"

namespace stepwright {

Simulation simulate(const StepProgram& program, const CostModel& cost,
                    const std::array<GroupLayout, kGroupKinds>& layouts, const Plan& plan,
                    bool record) {
  return play(program, price_operators(program, cost, layouts, plan.collectives), cost.contention(),
              record);
}

Prices price_operators(const StepProgram& program, const CostModel& cost,
                       const std::array<GroupLayout, kGroupKinds>& layouts,
                       const Collectives& collectives) {
  Prices prices;
  prices.reserve(program.templates.size());
  for (const Template& piece : program.templates) {
    cost.price(piece, layouts, collectives, prices.emplace_back());
  }
  return prices;
}

}  // namespace stepwright
