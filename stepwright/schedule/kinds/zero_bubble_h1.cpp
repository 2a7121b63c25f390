#include "stepwright/schedule/kinds/weight_filled.h"

namespace stepwright::schedule {
namespace {

/// ZB-H1 (2401.10241): p-r forwards, then in turn data gradient j, weight gradient j-r and the next
/// forward. It keeps activations of p-r micro-batches, as 1f1b does, and the operands of r weight
/// gradients, which fill 1f1b's waiting time.
Turns h1_turns(const PipelinePositionSizes& size) {
  return fill_waits_with_weight_gradients(size, size.stages - size.position, size.position);
}

std::optional<double> h1_uniform_s(const UniformPipeline& pipeline) {
  const auto m = static_cast<double>(pipeline.micro_batches);
  const auto p = static_cast<double>(pipeline.stages);
  const double w = pipeline.weight_s;
  const bool fillers = w <= pipeline.forward_s && w <= pipeline.backward_s - w;
  if (!fillers || m < p) return std::nullopt;
  return m * pipeline.both_s() + (p - 1) * (pipeline.both_s() - 2 * w);
}

}  // namespace

const PipelineScheduleDefinition kinds::kZeroBubbleH1 = {
    .text = "1f1b with weight gradients in turns of their own, which fill the bubble",
    .traits = {.alone = false},
    .turns = h1_turns,
    .uniform_s = h1_uniform_s};

}  // namespace stepwright::schedule
