#include <array>
#include <deque>
#include <functional>
#include <utility>

#include "stepwright/step/schedules/generators.h"

namespace stepwright {
namespace {

/// Writes the turns of a position in the phases of DualPipe. Route 0 is the one whose micro-batches
/// enter nearer to the position.
class DualPipeWriter {
 public:
  /// `ranks`: positions of a route's half; `rank`: of this one, from the nearer end; `count`:
  /// micro-batches of a route; `part`: the i-th micro-batch of a route as a part.
  template <class PartOf>
  DualPipeWriter(std::int64_t ranks, std::int64_t rank, std::int64_t count, PartOf part)
      : ranks_(ranks), rank_(rank), count_(count), part_(part) {}

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
    return std::move(turns_);
  }

 private:
  template <class Work>
  static void repeat(std::int64_t times, Work work) {
    for (std::int64_t i = 0; i < times; ++i) work();
  }

  /// The first pair of the innermost position runs one after the other: a smaller bubble.
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

  /// Backwards of both routes; from the middle on their weight gradients wait.
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

  Part forward(std::size_t route) { return part_(Direction::kForward, route, forwards_[route]++); }
  Part backward(std::size_t route) {
    return part_(Direction::kBackward, route, backwards_[route]++);
  }
  Part data_gradient(std::size_t route) {
    waiting_.push_back(part_(Direction::kWeightGradient, route, backwards_[route]));
    return part_(Direction::kDataGradient, route, backwards_[route]++);
  }
  Part weight_gradient() {
    const Part part = waiting_.front();
    waiting_.pop_front();
    return part;
  }

  void alone(const Part& part) { turns_.push_back({.part = part, .beside = std::nullopt}); }
  void together(const Part& forward, const Part& backward) {
    turns_.push_back({.part = forward, .beside = backward});
  }

  std::int64_t ranks_;
  std::int64_t rank_;
  std::int64_t count_;
  std::function<Part(Direction, std::size_t, std::int64_t)> part_;
  std::array<std::int64_t, 2> forwards_{};
  std::array<std::int64_t, 2> backwards_{};
  std::deque<Part> waiting_;  ///< Weight gradients, the first to come in front.
  Turns turns_;
};

}  // namespace

Turns dual_pipe(const PipelineSize& size) {
  const bool second_half = size.position >= size.stages / 2;
  const std::int64_t rank = second_half ? size.behind() : size.position;
  const auto part = [second_half](Direction direction, std::size_t route, std::int64_t i) {
    const auto chunk = static_cast<std::int64_t>(second_half ? 1 - route : route);
    return part_of(direction, chunk, 2 * i + chunk);
  };
  return DualPipeWriter(size.stages / 2, rank, size.micro_batches / 2, part).write();
}

Turns dual_pipe_v(const PipelineSize& size) {
  const auto part = [](Direction direction, std::size_t route, std::int64_t i) {
    return part_of(direction, static_cast<std::int64_t>(route), i);
  };
  return DualPipeWriter(size.stages, size.position, size.micro_batches, part).write();
}

}  // namespace stepwright
