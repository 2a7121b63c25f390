#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/step/program.h"

namespace stepwright {

/// One piece of work of a pipeline rank.
struct Turn {
  Direction direction = Direction::kForward;
  std::int32_t chunk = 0;
  std::int32_t micro_batch = 0;
};

/// The order in which pipeline position `position` of `stages` works on `micro_batches`:
/// gpipe (all forwards, then all backwards, 1811.06965), 1f1b (2006.09503), interleaved 1f1b with
/// model chunks (2104.04473; micro-batches a multiple of `stages`). Each kind is one function of
/// schedule.cpp; a new kind is one more.
std::vector<Turn> pipeline_schedule(const Schedule& schedule, std::int64_t stages,
                                    std::int64_t position, std::int64_t micro_batches);

}  // namespace stepwright
