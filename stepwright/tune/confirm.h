#pragma once

#include <map>
#include <string>
#include <vector>

#include "stepwright/tune/best_plans.h"
#include "stepwright/tune/tune.h"

namespace stepwright {

/// What simulating candidates showed.
struct Confirmed {
  std::vector<TunedPlan> plans;      ///< Those that fit, best first; ties by the plan's text.
  std::vector<TunedPlan> too_large;  ///< Those whose exact memory is above the capacity.
  std::int64_t simulated = 0;
  double open_bound_s = 0;  ///< Least lower bound of those not simulated; infinite if none.
  std::map<std::string, std::int64_t> unsupported;
};

/// One plan in the simulator, its memory from its program. Throws `kUnsupported` for what no
/// builder covers.
TunedPlan simulate_plan(const Job& job, const CostModel& cost, const Plan& plan,
                        const Price& price);

/// Simulates the best candidate by price, then the others in order of their lower bound until the
/// next bound reaches the best time, `most` were run, or eight million operators were. Rounds do
/// not depend on the threads.
Confirmed confirm(const Job& job, const CostModel& cost, const std::vector<Candidate>& candidates,
                  std::size_t most, const Running& running);

}  // namespace stepwright
