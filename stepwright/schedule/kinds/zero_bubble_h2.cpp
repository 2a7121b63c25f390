#include "stepwright/schedule/kinds/weight_filled.h"

namespace stepwright::schedule {
namespace {

/// ZB-H2 (2401.10241): 2(p-r)-1 forwards, and 2r postponed weight gradients; it is idle only while
/// the pipeline fills.
Turns h2_turns(const PipelinePositionSizes& size) {
  return fill_waits_with_weight_gradients(size, 2 * (size.stages - size.position) - 1,
                                          2 * size.position);
}

}  // namespace

const PipelineScheduleDefinition kinds::kZeroBubbleH2 = {
    .text = "zb-h1 with more micro-batches in flight: a smaller bubble",
    .traits = {.alone = false},
    .turns = h2_turns};

}  // namespace stepwright::schedule
