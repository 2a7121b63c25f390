#include "stepwright/simulate/expert_load_effect.h"

#include <fmt/format.h>

#include "stepwright/core/format.h"
#include "stepwright/cost/cost_model.h"
#include "stepwright/cost/laws/constants.h"
#include "stepwright/simulate/price/pricer.h"

namespace stepwright::simulate {

std::optional<ExpertImbalanceEffect> expert_imbalance_effect(const plan::PlannedJob& planned,
                                                             double even_s) {
  const plan::Job& job = planned.job;
  const bool stated = job.imbalance != 1 || !job.expert_tokens.empty() || job.capacity_factor > 0;
  if (!job.model.experts || planned.plan.parallel.expert == 1 || stated) return std::nullopt;
  const double load = cost::constants::kUnstatedLoad.value;
  plan::Job loaded = job;
  loaded.imbalance = load;
  const cost::CostModel cost(loaded);
  const double loaded_s = PlanPricer(loaded, cost).price(planned.plan).seconds;
  return ExpertImbalanceEffect{.load = load, .longer = loaded_s / even_s};
}

std::string expert_imbalance_note(const ExpertImbalanceEffect& span, double step_s) {
  return fmt::format(
      "The load of experts is unknown: {} assumes equal loads. With {:g} times the "
      "mean on the busiest rank the step would take {}; state the loads of your router with the "
      "key imbalance.",
      format_time(step_s), span.load, format_time(step_s * span.longer));
}

}  // namespace stepwright::simulate
