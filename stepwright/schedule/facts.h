#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "stepwright/schedule/schedule.h"

namespace stepwright::schedule {

/// The first and last parts of one chunk of a position in a step, as indices into `turn_parts`; -1:
/// none. Gathers that the previous step postponed come before the first forward; reductions follow
/// the last part that computes gradients.
struct ChunkEnds {
  std::int32_t first_forward = -1;
  std::int32_t last_backward = -1;  ///< Index of the last whole backward or data gradient.
  /// Index of the last weight gradient; -1 if a whole backward follows it.
  std::int32_t last_weight = -1;
};
ChunkEnds chunk_ends(std::span<const Part> parts, std::int32_t chunk);

/// Numbers of micro-batches, by chunk, that wait on a position when one of its turns (schedule
/// entries) begins: `backward` for their backward or data gradient, `weight` for their weight
/// gradient after that.
struct Moment {
  Part part;                   ///< The part that begins; the forward if two parts overlap.
  std::optional<Part> beside;  ///< The backward that overlaps the forward; nullopt: none.
  std::vector<std::int32_t> backward;
  std::vector<std::int32_t> weight;
};
/// Returns the moments at which memory can be fullest, whatever a micro-batch keeps: those for
/// which no other moment, before a turn with the same directions and chunks, has at least as many
/// waiting of each kind.
std::vector<Moment> fullest_moments(std::span<const ScheduleTurn> turns, std::int64_t chunks);

/// Returns the number of weight gradients after the last data gradient.
std::int64_t weights_at_end(std::span<const Part> parts);

/// The form of a schedule's backwards: whole, split into data and weight gradients with turns of
/// their own, or some of each.
enum class BackwardForm : std::uint8_t { kWhole, kSplit, kBoth };
inline constexpr std::size_t kBackwardForms = 3;
BackwardForm backward_form(const Schedule& schedule);
/// True if any backward of the schedule is split.
inline bool splits_backward(const Schedule& schedule) {
  return backward_form(schedule) != BackwardForm::kWhole;
}

}  // namespace stepwright::schedule
