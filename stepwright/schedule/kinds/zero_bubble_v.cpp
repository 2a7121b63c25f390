#include "stepwright/schedule/kinds/v_pattern.h"

namespace stepwright::schedule {
namespace {

/// ZB-V: a position keeps activations of p micro-batches.
Turns zero_bubble_v_turns(const PipelinePositionSizes& size) {
  return schedule_turns_by_v_pattern({.step = {2, 4, 2, 4}, .wait = {0, 0, 0}}, size);
}

}  // namespace

const PipelineScheduleDefinition kinds::kZeroBubbleV = {
    .text = "zero bubble, a rank holds two chunks, down the pipeline and up again",
    .traits = kVShapedScheduleTraits,
    .turns = zero_bubble_v_turns};

}  // namespace stepwright::schedule
