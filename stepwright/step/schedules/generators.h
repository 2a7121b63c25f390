#pragma once

#include "stepwright/step/schedule.h"

namespace stepwright {

/// One position of a pipeline, as a generator of turns sees it.
struct PipelineSize {
  std::int64_t stages = 1;
  std::int64_t position = 0;
  std::int64_t micro_batches = 1;
  std::int64_t chunks = 1;  ///< Of a position.

  /// Positions between this one and the last.
  [[nodiscard]] std::int64_t behind() const { return stages - 1 - position; }
};

/// A part, and a turn that is nothing else.
Part part_of(Direction direction, std::int64_t chunk, std::int64_t micro_batch);
Turn turn_of(Direction direction, std::int64_t chunk, std::int64_t micro_batch);

/// All forwards, then all backwards (1811.06965).
Turns gpipe(const PipelineSize& size);
/// One forward and one backward in turn (2006.09503).
Turns one_forward_one_backward(const PipelineSize& size);
/// The same with model chunks; micro-batches a multiple of the stages (2104.04473).
Turns interleaved(const PipelineSize& size);
/// The same with each forward beside the backward that follows it, which is another micro-batch's:
/// one forward more to warm up (Megatron-Core's combined 1f1b). On one position F0, B0 beside F1,
/// ..., the last backward.
Turns paired(const PipelineSize& size);

/// Zero bubble (2401.10241): H1 starts with p-r forwards; then data gradient j, weight gradient
/// j-r, the next forward. It holds activations of p-r micro-batches, as 1f1b does, and the operands
/// of r weight gradients, which fill what 1f1b waits for. H2 starts with 2(p-r)-1 forwards and
/// leaves 2r weight gradients: it waits only where the pipeline fills.
Turns zero_bubble_h1(const PipelineSize& size);
Turns zero_bubble_h2(const PipelineSize& size);
/// Two chunks, down the pipeline and up again; one pattern of six parts for each micro-batch, the
/// next one six units later (2405.15362). They differ in how long a micro-batch stays: ZB-V holds p
/// micro-batches on a position, V-Half about p/2 + 1, V-Min about p/3 + 1.
Turns zero_bubble_v(const PipelineSize& size);
Turns v_half(const PipelineSize& size);
Turns v_min(const PipelineSize& size);

/// The folded pipeline of DHelix (2411.15871): slot i goes down with the forward of micro-batch i
/// through the first half of the model beside the backward of i-p through the second, and up again
/// with the other halves. With fewer micro-batches than positions all forwards, then all backwards.
Turns folded(const PipelineSize& size);

/// DualPipe (2412.19437): micro-batches from both ends, every other one, over chunks that lie on
/// two positions each; `stages` even, at least 2 `stages` micro-batches, an even number. DualPipeV:
/// the same on half the positions, down and up again.
Turns dual_pipe(const PipelineSize& size);
Turns dual_pipe_v(const PipelineSize& size);

/// STP (2510.27257 and its authors' code): down and up again with pairs of one and the same chunk,
/// a forward beside a backward of the other way; where the pipeline fills and drains a forward
/// stands beside data gradients or weight gradients alone. At least 3 `stages` micro-batches.
Turns stp(const PipelineSize& size);

}  // namespace stepwright
