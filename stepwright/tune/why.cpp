#include "stepwright/tune/why.h"

#include <fmt/format.h>

#include "stepwright/core/format.h"
#include "stepwright/plan/choices/changes.h"
#include "stepwright/simulate/breakdown_terms.h"

namespace stepwright::tune {

std::string reason_plan_is_slower(const TunedPlan& winner, const TunedPlan& other) {
  if (winner.plan == other.plan) return {};
  const std::string different = plan::differing_choices_text(winner.plan, other.plan);
  const double behind = other.step_time_s - winner.step_time_s;
  if (behind < 0) {
    return fmt::format(
        "{} faster ({}), less than the variation between runs of one plan; it has {}",
        format_time(-behind), format_percent(-behind / winner.step_time_s), different);
  }
  if (behind == 0) return fmt::format("as fast; it has {}", different);
  const auto best = simulate::breakdown_terms(winner.breakdown);
  const auto here = simulate::breakdown_terms(other.breakdown);
  std::size_t most = 0;
  for (std::size_t i = 1; i < best.size(); ++i) {
    if (here[i] - best[i] > here[most] - best[most]) most = i;
  }
  return fmt::format("{} slower ({}): {} of {} instead of {}; it has {}", format_time(behind),
                     format_percent(behind / winner.step_time_s), format_time(here[most]),
                     simulate::kTermNames[most], format_time(best[most]), different);
}

}  // namespace stepwright::tune
