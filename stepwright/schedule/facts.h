#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "stepwright/schedule/schedule.h"

namespace stepwright::schedule {

/// The first and last forwards and backwards of one chunk of a pipeline rank in a step, as indices
/// into `work_items_in_issue_order`; -1: none. Gathers that the previous step postponed come before
/// the first forward; gradient reductions follow the last pass that computes gradients.
struct ModelChunkPassIndices {
  std::int32_t first_forward = -1;
  /// Index of the chunk's last whole backward or data gradient in a step; -1: none.
  std::int32_t last_backward = -1;
  /// Index of the last weight gradient of the chunk; -1: none, or a whole backward follows it.
  std::int32_t last_weight = -1;
};
ModelChunkPassIndices chunk_ends(std::span<const PipelineWorkPart> parts, std::int32_t chunk);

/// Numbers of micro-batches, by chunk, that wait on a pipeline rank when an entry of its schedule
/// begins: `backward` wait for their backward or data gradient, `weight` after that for their
/// weight gradient.
struct WaitingMicroBatches {
  PipelineWorkPart part;  ///< Work (forward, backward or a part of it) that begins at this moment;
                          ///< if a forward and a backward overlap, the forward.
  /// The backward (or a part of it) that overlaps the forward; nullopt: none does.
  std::optional<PipelineWorkPart> beside;
  std::vector<std::int32_t> backward;
  std::vector<std::int32_t> weight;
};
/// Returns the moments of a pipeline rank's schedule at which memory can be fullest, whatever a
/// micro-batch keeps: a moment is left out if at another one, before the same kind of work, at
/// least as many micro-batches of each kind wait. `chunks`: number of chunks of the rank.
std::vector<WaitingMicroBatches> peak_memory_moments(std::span<const PipelineScheduleTurn> turns,
                                                     std::int64_t chunks);

/// Returns how many weight gradients a pipeline rank computes after its last data gradient.
std::int64_t trailing_weight_gradients(std::span<const PipelineWorkPart> parts);

/// Whether a schedule's backwards are whole, split into data and weight gradients that run at
/// separate times, or some of each.
enum class BackwardSplitting : std::uint8_t { kWhole, kSplit, kBoth };
inline constexpr std::size_t kBackwardForms = 3;
BackwardSplitting backward_form(const PipelineSchedule& schedule);
/// True if the schedule splits any backward into data and weight gradients.
inline bool splits_backward(const PipelineSchedule& schedule) {
  return backward_form(schedule) != BackwardSplitting::kWhole;
}

}  // namespace stepwright::schedule
