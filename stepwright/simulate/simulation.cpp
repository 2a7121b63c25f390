#include "stepwright/simulate/simulation.h"

#include "stepwright/simulate/engine.h"
#include "stepwright/simulate/prices.h"

namespace stepwright {

Simulation simulate(const StepProgram& program, const CostModel& cost,
                    const std::array<GroupLayout, kGroupKinds>& layouts, const Plan& plan,
                    bool record) {
  return play(program, price_operators(program, cost, layouts, plan.data_algorithm),
              cost.contention(), record);
}

Prices price_operators(const StepProgram& program, const CostModel& cost,
                       const std::array<GroupLayout, kGroupKinds>& layouts,
                       Algorithm data_algorithm) {
  Prices prices;
  prices.reserve(program.templates.size());
  for (const Template& piece : program.templates) {
    std::vector<OperatorTime>& times = prices.emplace_back();
    times.reserve(piece.operators.size());
    for (const Operator& op : piece.operators) {
      times.push_back(cost.price(op, layouts, data_algorithm));
    }
  }
  return prices;
}

}  // namespace stepwright
