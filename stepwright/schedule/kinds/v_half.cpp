#include "stepwright/schedule/kinds/v_pattern.h"

namespace stepwright::schedule {
namespace {

/// V-Half: a position keeps activations of about p/2 + 1 micro-batches.
Turns v_half_turns(const PipelinePositionSizes& size) {
  const bool even = size.stages % 2 == 0;
  return schedule_turns_by_v_pattern(
      {.step = {1, 2, 1, 2}, .wait = {even ? 3 : 1, 0, even ? 4 : 0}}, size);
}

}  // namespace

const PipelineScheduleDefinition kinds::kVHalf = {
    .text = "as zb-v with half the activations of 1f1b",
    .traits = kVShapedScheduleTraits,
    .turns = v_half_turns};

}  // namespace stepwright::schedule
