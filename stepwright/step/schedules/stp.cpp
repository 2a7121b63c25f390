#include <utility>

#include "stepwright/step/schedules/route_writer.h"

namespace stepwright {
namespace {

/// Writes the turns of a position in the phases of STP. Route 0 goes down, route 1 up again.
class StpWriter : RouteWriter {
 public:
  StpWriter(const PipelineSize& size, PartOf part)
      : RouteWriter(std::move(part)),
        ranks_(size.stages),
        rank_(size.position),
        behind_(size.behind()),
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

  /// Pairs of one route after the other; the last ones leave weight gradients for the end.
  void steady() {
    const std::int64_t whole = 2 * (count_ - 3 * ranks_) + 3 + rank_;
    for (std::int64_t i = 0; i < whole + rank_; ++i) {
      const std::size_t route = i % 2 == 0 ? 1 : 0;
      together(forward(route), i < whole ? backward(route) : data_gradient(route));
    }
  }

  /// The last backward of each route is in two, as weight gradients follow it: reductions of a
  /// chunk's gradients then come after its last one.
  void drain() {
    repeat(rank_, [this] {
      alone(backward(0));
      alone(backward(1));
    });
    alone(backward(0));
    in_two(1);
    repeat(behind_, [this] {
      alone(backward(0));
      alone(weight_gradient());
      alone(weight_gradient());
    });
    in_two(0);
    repeat(2 * rank_, [this] { alone(weight_gradient()); });
  }

  std::int64_t ranks_;
  std::int64_t rank_;
  std::int64_t behind_;
  std::int64_t count_;
};

}  // namespace

Turns stp(const PipelineSize& size) {
  const auto part = [](Direction direction, std::size_t route, std::int64_t i) {
    return part_of(direction, static_cast<std::int64_t>(route), i);
  };
  return StpWriter(size, part).write();
}

}  // namespace stepwright
