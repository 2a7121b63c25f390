#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "stepwright/tune/tune.h"

namespace stepwright::tune {

/// A plan with two strands that is faster than the best of an answer that was not asked for any.
struct StrandsGain {
  TunedPlan tuned;
  double gain_s = 0;  ///< Against the best plan of the answer.
};

/// The gain of a forward beside a backward, operator by operator: the best plan with the schedules
/// that have such turns, and its neighbours with two strands that are faster in simulation
/// (`search_locally`), so it is a lower bound of the gain. Nothing where the search chose among
/// strands itself, where the job's framework runs none, where no plan fits, or where the gain is
/// less than a hundredth.
std::optional<StrandsGain> two_strands(const TuneResult& result, const TuneOptions& options);

/// The value as it stands in `tune --json`; null where there is none.
nlohmann::ordered_json two_strands_json(const TuneResult& result,
                                        const std::optional<StrandsGain>& gain);

}  // namespace stepwright::tune
