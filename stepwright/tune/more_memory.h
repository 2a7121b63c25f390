#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "stepwright/tune/tune.h"

namespace stepwright::tune {

/// The best plan for a device with more memory, or with more risk.
struct MemoryStep {
  double capacity_bytes = 0;  ///< Capacity of the device.
  double reserve_share = 0;   ///< Share of the capacity that the plan leaves free.
  TunedPlan tuned;            ///< The plan; its `fits` refers to `capacity_bytes`.
  double gain_s = 0;          ///< Step time saved against the best plan of the answer.
};

/// Returns how much faster plans get with more risk or more memory. Amounts tried: first the memory
/// of the device with a lower probability of fitting (0.75, or 0.5 where no more than that was
/// asked) or without a stated reserve; then a quarter more, half more and twice the memory with as
/// large a share kept free. Each amount's plan is found from the plan of the amount before by local
/// search (`search_locally`), so the gain is a lower bound. Only amounts that gain at least a
/// thousandth over the ones before are listed. Empty where the answer has no plan that fits.
std::vector<MemoryStep> more_memory(const TuneResult& result, const TuneOptions& options);

/// Returns the value that `tune --json` prints for it.
nlohmann::ordered_json more_memory_json(const TuneResult& result,
                                        const std::vector<MemoryStep>& steps);

}  // namespace stepwright::tune
