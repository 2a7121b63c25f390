#include "stepwright/tune/misfit.h"

#include <fmt/format.h>

#include <algorithm>

#include "stepwright/core/format.h"
#include "stepwright/memory/memory.h"
#include "stepwright/plan/canonical.h"
#include "stepwright/plan/legality.h"

namespace stepwright {
namespace {

std::string size_note(double usable, const TunedPlan& smallest) {
  if (smallest.peak_memory_bytes > usable) {
    return fmt::format(
        "No plan that the job allows fits in {} of memory: the smallest needs {}, which is {} too "
        "much.",
        format_bytes(usable), format_bytes(smallest.peak_memory_bytes),
        format_bytes(smallest.over_by_bytes));
  }
  return fmt::format(
      "Plans that fit on the devices leave more to the host of a node than it has room for, the "
      "smallest {}.",
      format_bytes(smallest.over_by_bytes));
}

/// Whether hosts have room for a part of the optimizer, and the framework leaves it there.
bool could_offload(const Job& job, const Dimensions& space, Plan plan) {
  const auto runs = [&](double share) {
    plan.offload.optimizer = share;
    return !broken_rule(job, plan) &&
           (!space.framework ||
            space.framework->runs(Ability::kOffload, job, canonical(plan, job)));
  };
  return runs(1) || runs(0.5);
}

}  // namespace

std::vector<std::string> misfit_notes(const Job& job, const Dimensions& space,
                                      const TunedPlan& smallest) {
  std::vector<std::string> notes = {size_note(usable_bytes(job), smallest)};
  const bool asked = std::ranges::any_of(space.offload.optimizer, [](double s) { return s > 0; });
  if (!asked && could_offload(job, space, smallest.plan)) {
    notes.push_back(fmt::format(
        "The hosts have {} a node: `search: {{offload: {{optimizer: [0, 0.5, 1]}}}}` also looks "
        "for plans that leave the optimizer's states there.",
        format_bytes(job.cluster.host.memory_bytes)));
  }
  return notes;
}

}  // namespace stepwright
