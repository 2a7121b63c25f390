#include "stepwright/schedule/kinds/dual_pipe_writer.h"

namespace stepwright::schedule {
namespace {

/// DualPipeV (2412.19437 and its authors' code): DualPipe on half as many positions, where each
/// micro-batch goes down the pipeline and up again.
Turns dual_pipe_v_of(const PipelinePositionSizes& size) {
  return dual_pipe_schedule_turns(size.stages, size.position, size.micro_batches,
                                  work_item_of_v_route);
}

std::optional<double> dual_pipe_v_uniform_s(const UniformPipeline& pipeline) {
  const auto m = static_cast<double>(pipeline.micro_batches);
  const auto p = static_cast<double>(pipeline.stages);
  const double b = pipeline.backward_s;
  const double w = pipeline.weight_s;
  const double c = pipeline.forward_backward_pair_s();
  if (!pipeline.has_even_passes() || m < 2 * p) return std::nullopt;
  return m * pipeline.both_s() - (2 * m - 2 * p - 1) * (pipeline.both_s() - c) / 2 +
         (p - 1) * (c + b - 3 * w) / 2;
}

}  // namespace

const PipelineScheduleDefinition kinds::kDualPipeV = {
    .text = "dualpipe on half the ranks, each with two chunks",
    .traits = {.placement = ModelChunkPlacementKind::kV,
               .least_chunks = 2,
               .most_chunks = 2,
               .alone = false,
               .pairs = true,
               .least_rounds = 2},
    .turns = dual_pipe_v_of,
    .uniform_s = dual_pipe_v_uniform_s};

}  // namespace stepwright::schedule
