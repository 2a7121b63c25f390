#include "stepwright/schedule/kinds/route_writer.h"

namespace stepwright::schedule {
namespace {

/// Writes the turns of a position in the phases of STP. Route 0 goes down, route 1 up again.
class StpWriter : TwoRouteScheduleWriter {
 public:
  explicit StpWriter(const PipelinePositionSizes& size)
      : TwoRouteScheduleWriter(work_item_of_v_route),
        ranks_(size.stages),
        rank_(size.position),
        behind_(size.pipeline_positions_after_this()),
        count_(size.micro_batches) {}

  Turns write() {
    fill();
    repeat(behind_, [this] {
      together(forward(1), data_gradient(1));
      together(forward(0), weight_gradient());
    });
    steady();
    repeat(2 * (ranks_ - 1) - rank_, [this] {
      alone(backward(0));
      together(forward(1), data_gradient(1));
    });
    drain();
    return take();
  }

 private:
  void fill() {
    repeat(2 * behind_, [this] { alone(forward(0)); });
    repeat(rank_ + 1, [this] {
      alone(forward(0));
      alone(forward(1));
    });
    repeat(rank_ + 1, [this] { alone(forward(0)); });
  }

  /// Writes pairs of alternating routes; the last pairs postpone weight gradients to the end.
  void steady() {
    const std::int64_t whole = 2 * (count_ - 3 * ranks_) + 3 + rank_;
    for (std::int64_t i = 0; i < whole + rank_; ++i) {
      const std::size_t route = i % 2 == 0 ? 1 : 0;
      together(forward(route), i < whole ? backward(route) : data_gradient(route));
    }
  }

  /// Writes the last backwards. The last backward of each route is split, as weight gradients
  /// follow it, so that the reduction of a chunk's gradients comes after its last weight gradient.
  void drain() {
    repeat(rank_, [this] {
      alone(backward(0));
      alone(backward(1));
    });
    alone(backward(0));
    append_split_backward(1);
    repeat(behind_, [this] {
      alone(backward(0));
      alone(weight_gradient());
      alone(weight_gradient());
    });
    append_split_backward(0);
    repeat(2 * rank_, [this] { alone(weight_gradient()); });
  }

  std::int64_t ranks_;
  std::int64_t rank_;
  std::int64_t behind_;
  std::int64_t count_;
};

/// STP (2510.27257 and its authors' code): down and up again with pairs on one chunk, in which a
/// forward overlaps a backward of the other way. While the pipeline fills and drains, a forward
/// overlaps data gradients or weight gradients alone.
Turns stp_turns(const PipelinePositionSizes& size) { return StpWriter(size).write(); }

std::optional<double> stp_uniform_s(const UniformPipeline& pipeline) {
  const auto m = static_cast<double>(pipeline.micro_batches);
  const auto p = static_cast<double>(pipeline.stages);
  const double f = pipeline.forward_s;
  const double b = pipeline.backward_s;
  const double w = pipeline.weight_s;
  const double c = pipeline.forward_backward_pair_s();
  if (!pipeline.has_even_passes() || c < b || 2 * w < f || m < 3 * p) return std::nullopt;
  return m * (f + b) - (m - 1.5 * p) * (f + b - c) +
         (p - 1) * ((f + b - 2 * w) / 2 + std::max(0.0, c - b - w)) - (f - w) / 2;
}

}  // namespace

const PipelineScheduleDefinition kinds::kStp = {
    .text =
        "forward and backward braided around tensor-parallel messages, more in flight than zb-v",
    .traits = {.placement = ModelChunkPlacementKind::kV,
               .least_chunks = 2,
               .most_chunks = 2,
               .alone = false,
               .pairs = true,
               .braids = true,
               .least_rounds = 3},
    .turns = stp_turns,
    .uniform_s = stp_uniform_s};

}  // namespace stepwright::schedule
