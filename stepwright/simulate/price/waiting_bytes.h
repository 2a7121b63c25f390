#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/simulate/price/chunk_cost.h"

namespace stepwright::simulate {

/// The activations that wait at a position and the largest moment beside them, for a schedule with
/// closed forms. `chunks`: those of the position.
PeakBytes waiting_bytes(const std::vector<ChunkCost>& chunks, const plan::Plan& plan,
                        std::int64_t position, std::int64_t micro_batches);

/// The most that waits on the host at a position, where it is known how many micro-batches of each
/// chunk wait at once: by closed forms, or at a schedule's fullest moments.
double waiting_on_host(const std::vector<ChunkCost>& chunks, const plan::Plan& plan,
                       std::int64_t position, std::int64_t micro_batches);
double played_on_host(const std::vector<ChunkCost>& chunks,
                      const std::vector<schedule::Moment>& fullest);

/// The largest of a schedule's fullest moments at a position: what waits, and the turn that is
/// about to begin. What waits for weight gradients is what the data gradients' part kept; `stage`
/// is told the parameters whose gradients have begun then. `pairs`: by chunk the largest moments of
/// its forward beside a backward, beside what waits before both; `cuts`: whether the schedule cuts
/// backwards.
PeakBytes played_bytes(const std::vector<ChunkCost>& chunks,
                       const std::vector<schedule::Beside<PeakBytes>>& pairs,
                       const std::vector<schedule::Moment>& fullest, bool cuts, StageCost& stage);

}  // namespace stepwright::simulate
