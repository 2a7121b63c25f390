#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stepwright/step/program.h"

namespace stepwright {

/// One piece of work of a pipeline position: a direction of one of its chunks for one micro-batch.
struct Part {
  Direction direction = Direction::kForward;
  std::int32_t chunk = 0;  ///< Of the position.
  std::int32_t micro_batch = 0;
  auto operator<=>(const Part&) const = default;
};

/// What a position does at one time: a part, or two that run together.
struct Turn {
  Part part;
  std::optional<Part> beside;
};

/// The turns of one position, in order.
using Turns = std::vector<Turn>;

/// The order in which pipeline position `position` of `stages` works on `micro_batches`, by the
/// kind of schedule. Each kind is one function of a file in `schedules/`; a new kind is one more.
/// All that a schedule implies follows from these turns (`schedule_facts.h`).
Turns pipeline_schedule(const Schedule& schedule, std::int64_t stages, std::int64_t position,
                        std::int64_t micro_batches);

/// The turns of all positions.
std::vector<Turns> all_turns(const Schedule& schedule, std::int64_t stages,
                             std::int64_t micro_batches);

}  // namespace stepwright
