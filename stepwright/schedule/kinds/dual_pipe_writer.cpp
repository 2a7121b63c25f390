#include "stepwright/schedule/kinds/dual_pipe_writer.h"

#include <utility>

namespace stepwright::schedule {
namespace {

/// Writes the turns of a position in the phases of DualPipe. Route 0 is the route whose
/// micro-batches enter at the nearer end.
class DualPipeWriter : TwoRouteScheduleWriter {
 public:
  DualPipeWriter(std::int64_t ranks, std::int64_t rank, std::int64_t count, PartOf part)
      : TwoRouteScheduleWriter(std::move(part)), ranks_(ranks), rank_(rank), count_(count) {}

  Turns write() {
    const std::int64_t behind = ranks_ - rank_ - 1;
    repeat(2 * behind, [this] { alone(forward(0)); });
    repeat(rank_ + 1, [this] {
      alone(forward(0));
      alone(forward(1));
    });
    repeat(behind, [this] {
      alone(data_gradient(1));
      alone(weight_gradient());
      alone(forward(1));
    });
    steady();
    repeat(behind, [this] {
      alone(backward(1));
      together(forward(1), backward(0));
    });
    drain();
    repeat(behind, [this] {
      alone(weight_gradient());
      alone(data_gradient(0));
    });
    repeat(rank_ + 1, [this] { alone(weight_gradient()); });
    return take();
  }

 private:
  /// The first pair of the innermost position runs one part after the other, which makes the bubble
  /// smaller.
  void steady() {
    for (std::int64_t i = 0; i < count_ - 2 * ranks_ + rank_ + 1; ++i) {
      if (i == 0 && rank_ == ranks_ - 1) {
        alone(forward(0));
        alone(backward(1));
      } else {
        together(forward(0), backward(1));
      }
      together(forward(1), backward(0));
    }
  }

  /// Writes the backwards of both routes; from the middle on, their weight gradients are postponed.
  void drain() {
    bool split = false;
    for (std::int64_t i = 0; i <= rank_; ++i) {
      const bool middle = i == (rank_ + 1) / 2;
      split = split || (middle && rank_ % 2 == 1);
      alone(split ? data_gradient(1) : backward(1));
      split = split || (middle && rank_ % 2 == 0);
      alone(split ? data_gradient(0) : backward(0));
    }
  }

  std::int64_t ranks_;
  std::int64_t rank_;
  std::int64_t count_;
};

}  // namespace

Turns dual_pipe_schedule_turns(std::int64_t ranks, std::int64_t rank, std::int64_t count,
                               TwoRouteScheduleWriter::PartOf part) {
  return DualPipeWriter(ranks, rank, count, std::move(part)).write();
}

}  // namespace stepwright::schedule
