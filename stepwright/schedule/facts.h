#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "stepwright/schedule/schedule.h"

namespace stepwright::schedule {

/// Which parts of a position begin and end the step for one of its chunks, as indices into
/// `parts_of`; -1: none. Before the first forward stand gathers that the last step postponed;
/// reductions follow the last part that makes gradients.
struct ChunkEnds {
  std::int32_t first_forward = -1;
  std::int32_t last_backward = -1;  ///< A whole backward or a data gradient.
  std::int32_t last_weight = -1;    ///< None where a whole backward follows.
};
ChunkEnds chunk_ends(std::span<const Part> parts, std::int32_t chunk);

/// Micro-batches that wait on a position when a turn is about to begin, by chunk: for their
/// backward or data gradient, and, that one done, for their weight gradient.
struct Moment {
  Part part;                   ///< The forward, if two parts run together.
  std::optional<Part> beside;  ///< The backward that runs beside it, if any.
  std::vector<std::int32_t> backward;
  std::vector<std::int32_t> weight;
};
/// The moments at which no other moment before the same directions and chunks has at least as many
/// of each waiting: at one of them, whatever a micro-batch keeps, memory is fullest.
std::vector<Moment> fullest_moments(std::span<const Turn> turns, std::int64_t chunks);

/// Weight gradients that stand after the last data gradient.
std::int64_t weights_at_end(std::span<const Part> parts);

/// The forms of the backwards of a schedule: whole, cut into data and weight gradients that have
/// turns of their own, or some of each.
enum class BackwardForm : std::uint8_t { kWhole, kSplit, kBoth };
inline constexpr std::size_t kBackwardForms = 3;
BackwardForm backward_form(const Schedule& schedule);
/// Whether any are cut.
inline bool splits_backward(const Schedule& schedule) {
  return backward_form(schedule) != BackwardForm::kWhole;
}

}  // namespace stepwright::schedule
