#include "stepwright/schedule/kinds/dual_pipe_writer.h"

namespace stepwright::schedule {
namespace {

/// DualPipe (2412.19437): micro-batches enter alternately from both ends, and each chunk is on two
/// positions.
Turns dual_pipe_of(const PipelinePositionSizes& size) {
  const bool second_half = size.position >= size.stages / 2;
  const std::int64_t rank = second_half ? size.pipeline_positions_after_this() : size.position;
  const auto part = [second_half](Direction direction, std::size_t route, std::int64_t i) {
    const auto chunk = static_cast<std::int64_t>(second_half ? 1 - route : route);
    return make_schedule_work_item(direction, chunk, 2 * i + chunk);
  };
  return dual_pipe_schedule_turns(size.stages / 2, rank, size.micro_batches / 2, part);
}

std::optional<double> dual_pipe_uniform_s(const UniformPipeline& pipeline) {
  const auto m = static_cast<double>(pipeline.micro_batches);
  const auto p = static_cast<double>(pipeline.stages);
  const double b = pipeline.backward_s;
  const double w = pipeline.weight_s;
  const double c = pipeline.forward_backward_pair_s();
  if (!pipeline.has_even_passes() || m < 2 * p) return std::nullopt;
  return m * pipeline.both_s() - (m - p - 1) * (pipeline.both_s() - c) +
         (p / 2 - 1) * (c + b - 3 * w);
}

}  // namespace

const PipelineScheduleDefinition kinds::kDualPipe = {
    .text = "micro-batches from both ends, every chunk on two ranks",
    .traits = {.placement = ModelChunkPlacementKind::kMirrored,
               .least_chunks = 2,
               .most_chunks = 2,
               .alone = false,
               .pairs = true,
               .even = true,
               .least_rounds = 2,
               .runs = false},
    .turns = dual_pipe_of,
    .uniform_s = dual_pipe_uniform_s};

}  // namespace stepwright::schedule
