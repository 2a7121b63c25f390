#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/simulate/price/chunk_cost.h"

namespace stepwright::simulate {

/// Returns the peak bytes of a position: activations that wait for their backward, and the largest
/// moment beside them, for a schedule with closed forms. `chunks`: the chunks of the position.
PeakBytes waiting_activation_bytes(const std::vector<ChunkCost>& chunks, const plan::Plan& plan,
                                   std::int64_t position, std::int64_t micro_batches);

/// Return the most bytes of activations that wait in host memory for a position.
/// `waiting_host_bytes`: by closed forms of how many micro-batches of each chunk wait at once;
/// `played_on_host`: at a schedule's fullest moments.
double waiting_host_bytes(const std::vector<ChunkCost>& chunks, const plan::Plan& plan,
                          std::int64_t position, std::int64_t micro_batches);
double played_on_host(const std::vector<ChunkCost>& chunks,
                      const std::vector<schedule::Moment>& fullest);

/// Returns the peak bytes over a schedule's fullest moments at a position: the bytes that wait, and
/// the turn that is about to begin. A chunk that waits for its weight gradient holds the bytes that
/// its data gradient kept. Also sets in `stage` the parameters whose gradients have begun at the
/// peak. `pairs`: by chunk the peaks of its forward beside a backward, above the bytes that wait
/// before both; `cuts`: true if the schedule cuts backwards.
PeakBytes schedule_peak_bytes(const std::vector<ChunkCost>& chunks,
                              const std::vector<schedule::Beside<PeakBytes>>& pairs,
                              const std::vector<schedule::Moment>& fullest, bool cuts,
                              StageCost& stage);

}  // namespace stepwright::simulate
