#include "stepwright/schedule/kinds/alternating.h"

namespace stepwright::schedule {
namespace {

/// Each forward overlaps the backward that follows it, of another micro-batch, after one more
/// warm-up forward than in 1F1B (Megatron-Core's combined 1f1b). On one position: F0, B0 beside F1,
/// ..., the last backward.
Turns paired_turns(const PipelinePositionSizes& size) {
  return one_forward_one_backward(size, interleaved_warm_up_forwards(size) + 1, true);
}

}  // namespace

const PipelineScheduleDefinition kinds::kPaired = {
    .text = "interleaved 1f1b with every forward beside another micro-batch's backward",
    .traits = {.most_chunks = kUnlimitedChunks,
               .several_apart = true,
               .pairs = true,
               .groups = true},
    .turns = paired_turns};

}  // namespace stepwright::schedule
