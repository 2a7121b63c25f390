#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/simulate/price/chunk_cost.h"

namespace stepwright::simulate {

/// Returns the peak activation bytes of a pipeline rank under a schedule with closed forms:
/// activations that wait for their backward, and the largest transient beside them. `chunks`: costs
/// of the pipeline rank's chunks.
PeakBytes peak_kept_activation_bytes(const std::vector<ModelChunkCost>& chunks,
                                     const plan::Plan& plan, std::int64_t position,
                                     std::int64_t micro_batches);

/// Returns the peak bytes of activations that a pipeline rank keeps in host memory, by closed forms
/// of how many micro-batches wait at once. `played_on_host` returns them for the moments of a
/// simulated schedule at which most micro-batches wait.
double peak_offloaded_activation_bytes(const std::vector<ModelChunkCost>& chunks,
                                       const plan::Plan& plan, std::int64_t position,
                                       std::int64_t micro_batches);
double played_on_host(const std::vector<ModelChunkCost>& chunks,
                      const std::vector<schedule::WaitingMicroBatches>& fullest);

/// Returns the peak activation bytes of a pipeline rank over the moments of a simulated schedule at
/// which most micro-batches wait: the bytes kept for backwards or weight gradients, and those of
/// the work that begins. Sets in `stage` the parameters whose gradients exist at the peak. `pairs`:
/// by chunk, the peaks of its forward beside a backward, beyond the bytes that waited before both;
/// `cuts`: true if the schedule splits backwards into data and weight gradients.
PeakBytes simulated_activation_peak_bytes(const std::vector<ModelChunkCost>& chunks,
                                          const std::vector<schedule::Beside<PeakBytes>>& pairs,
                                          const std::vector<schedule::WaitingMicroBatches>& fullest,
                                          bool cuts, PipelinePositionCost& stage);

}  // namespace stepwright::simulate
