#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "stepwright/tune/tune.h"

namespace stepwright::tune {

/// The best plan for a device with more memory, or with a smaller reserve of free memory, and what
/// it gains.
struct MoreMemoryGain {
  double capacity_bytes = 0;  ///< Assumed memory capacity of a device, in bytes.
  double reserve_share = 0;   ///< Share of the capacity that the plan must leave free.
  /// The best plan found for this capacity; its `fits` refers to `capacity_bytes`.
  TunedPlan tuned;
  double gain_s = 0;  ///< Seconds of step time saved against the best plan of the search.
};

/// Returns how much faster plans get with less reserve or more memory. Tries first the device's
/// memory without a stated reserve, or with a lower probability of fitting than asked (0.75, else
/// 0.5), then a quarter more, half more and twice the memory with an equal share kept free. Plans
/// are found by local search from the plan of the amount before, so gains are lower bounds. Lists
/// only amounts that gain 0.1 % over the ones before. Empty if the answer has no plan that fits.
std::vector<MoreMemoryGain> step_time_gains_of_more_memory(const TuneResult& result,
                                                           const TuneOptions& options);

/// Returns the JSON list of `tune --json` that says how much faster plans get with more memory.
nlohmann::ordered_json more_memory_json(const TuneResult& result,
                                        const std::vector<MoreMemoryGain>& steps);

}  // namespace stepwright::tune
