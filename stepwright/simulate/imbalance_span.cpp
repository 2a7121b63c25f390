#include "stepwright/simulate/imbalance_span.h"

#include <fmt/format.h>

#include "stepwright/core/format.h"
#include "stepwright/cost/cost_model.h"
#include "stepwright/cost/laws/constants.h"
#include "stepwright/simulate/price/pricer.h"

namespace stepwright::simulate {

std::optional<ImbalanceSpan> imbalance_span(const plan::PlannedJob& planned) {
  const plan::Job& job = planned.job;
  const bool stated = job.imbalance != 1 || !job.expert_tokens.empty() || job.capacity_factor > 0;
  if (!job.model.experts || planned.plan.parallel.expert == 1 || stated) return std::nullopt;
  const auto priced_s = [&](double load) {
    plan::Job loaded = job;
    loaded.imbalance = load;
    const cost::CostModel cost(loaded);
    return Pricer(loaded, cost).price(planned.plan).seconds;
  };
  const double load = cost::constants::kUnstatedLoad.value;
  return ImbalanceSpan{.load = load, .longer = priced_s(load) / priced_s(1)};
}

std::string imbalance_note(const ImbalanceSpan& span, double step_s) {
  return fmt::format(
      "Nothing says how evenly experts are loaded: {} assumes equal loads. With {:g} times the "
      "mean on the busiest rank the step would take {}; state what your router does with the key "
      "imbalance.",
      format_time(step_s), span.load, format_time(step_s * span.longer));
}

}  // namespace stepwright::simulate
