#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "stepwright/tune/tune.h"

namespace stepwright::tune {

/// A plan with two strands (two micro-batches that run at the same time on a rank) that is faster
/// than the best plan of a search without strands.
struct TwoStrandsGain {
  TunedPlan tuned;
  double gain_s = 0;  ///< Seconds of step time saved against the best plan of the search.
};

/// Returns the gain of running the forward of one micro-batch beside the backward of another,
/// operator by operator (two strands). Tries the best plan with each such schedule, then faster
/// neighbours, so the gain is a lower bound. nullopt if the search included strands, the framework
/// runs none, no plan fits, or the gain is below 1 %.
std::optional<TwoStrandsGain> gain_of_two_micro_batch_streams(const TuneResult& result,
                                                              const TuneOptions& options);

/// Returns the JSON value of `tune --json` on the gain of running two micro-batches at the same
/// time on a rank (two strands); null if there is no gain.
nlohmann::ordered_json two_micro_batch_streams_gain_json(const TuneResult& result,
                                                         const std::optional<TwoStrandsGain>& gain);

}  // namespace stepwright::tune
