#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "stepwright/tune/census.h"
#include "stepwright/tune/tune.h"

namespace stepwright {

/// Whether the job's framework runs what a legal, canonical plan of it chooses; true without one.
bool runs_there(const Job& job, const Dimensions& space, const Plan& plan);

/// Points of the space that the job's framework does not run, one entry for each of its abilities.
std::vector<Refusal> framework_refusals(const Dimensions& space, const Census& census);

/// Frameworks that do not run a plan as it is, and the nearest that they all run.
struct NearestRun {
  std::vector<std::string_view> frameworks;
  std::optional<Plan> plan;  ///< Nothing: no plan so near is legal, or the job itself does not run.
};

/// One entry for each different nearest plan, in the order of `kFrameworkNames`; those without one
/// last.
std::vector<NearestRun> nearest_runs(const Job& job, const Plan& plan);

}  // namespace stepwright
