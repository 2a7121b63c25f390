#include "stepwright/schedule/kinds/v_pattern.h"

namespace stepwright::schedule {
namespace {

/// V-Min: a position keeps activations of about p/3 + 1 micro-batches.
Turns v_min_turns(const PipelinePositionSizes& size) {
  const std::int64_t wait = size.stages % 3 == 0 ? 2 : 0;
  return schedule_turns_by_v_pattern({.step = {1, 1, 1, 1}, .wait = {wait, 0, wait}}, size);
}

}  // namespace

const PipelineScheduleDefinition kinds::kVMin = {.text = "as zb-v with the fewest activations",
                                                 .traits = kVShapedScheduleTraits,
                                                 .turns = v_min_turns};

}  // namespace stepwright::schedule
