#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "stepwright/tune/tune.h"

namespace stepwright::tune {

/// A plan with two strands that is faster than the best plan of a search that did not include
/// strands.
struct StrandsGain {
  TunedPlan tuned;
  double gain_s = 0;  ///< Step time saved against the best plan of the answer.
};

/// Returns the gain of running a forward beside a backward, operator by operator: tries the best
/// plan with each schedule of two strands, then neighbours with two strands that are faster in
/// simulation (`search_locally`), so the gain is a lower bound. nullopt where the search itself
/// included strands, where the job's framework runs none, where no plan fits, or where the gain is
/// less than a hundredth.
std::optional<StrandsGain> two_strands(const TuneResult& result, const TuneOptions& options);

/// Returns the value that `tune --json` prints for it; null where there is no gain.
nlohmann::ordered_json two_strands_json(const TuneResult& result,
                                        const std::optional<StrandsGain>& gain);

}  // namespace stepwright::tune
