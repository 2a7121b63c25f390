#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "stepwright/tune/tune.h"

namespace stepwright::tune {

/// The plan that a device with more memory would train.
struct MemoryStep {
  double capacity_bytes = 0;  ///< Capacity of the device.
  double reserve_share = 0;   ///< Share of the capacity that the plan leaves free.
  TunedPlan tuned;            ///< The plan; `fits` is of that capacity.
  double gain_s = 0;          ///< Against the best plan of the answer.
};

/// The gains of more risk and of the next gigabytes: first the memory of the device with a lower
/// probability of fitting (0.75, or 0.5 where no more than that was asked), or without a stated
/// reserve, then a quarter more, half more and twice the memory with as large a share kept free.
/// Each is followed from the one before to neighbours that are faster in simulation
/// (`search_locally`), so it is a lower bound of the gain; the steps that are a thousandth faster
/// than those before are listed. Empty where the answer has no plan that fits.
std::vector<MemoryStep> more_memory(const TuneResult& result, const TuneOptions& options);

/// The value as it stands in `tune --json`.
nlohmann::ordered_json more_memory_json(const TuneResult& result,
                                        const std::vector<MemoryStep>& steps);

}  // namespace stepwright::tune
