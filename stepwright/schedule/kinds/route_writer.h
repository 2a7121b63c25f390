#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>

#include "stepwright/schedule/kinds.h"

namespace stepwright::schedule {

/// Writes the turns (schedule entries) of a position whose micro-batches arrive on two routes (from
/// both ends, or down and up again), in order on each. `data_gradient` leaves a weight gradient
/// waiting; `weight_gradient` takes the oldest one.
class TwoRouteTurnWriter {
 public:
  /// Returns the i-th micro-batch of a route in a direction (forward, backward ...) as work of the
  /// position.
  using PartOf = std::function<Part(Direction, std::size_t route, std::int64_t i)>;
  explicit TwoRouteTurnWriter(PartOf part) : part_(std::move(part)) {}

  Part forward(std::size_t route) { return part_(Direction::kForward, route, forwards_[route]++); }
  Part backward(std::size_t route) {
    return part_(Direction::kBackward, route, backwards_[route]++);
  }
  Part data_gradient(std::size_t route);
  Part weight_gradient();

  /// Appends the next backward of a route as a data gradient directly followed by its weight
  /// gradient.
  void append_split_backward(std::size_t route);

  void alone(const Part& part) { turns_.push_back({.part = part, .beside = std::nullopt}); }
  void together(const Part& forward, const Part& other) {
    turns_.push_back({.part = forward, .beside = other});
  }
  Turns take() { return std::move(turns_); }

 private:
  PartOf part_;
  std::array<std::int64_t, 2> forwards_{};
  std::array<std::int64_t, 2> backwards_{};
  std::deque<Part> waiting_;
  Turns turns_;
};

/// Returns the i-th micro-batch of a route as work of a position, for a V-shaped placement: route 0
/// is chunk 0 (down the pipeline), route 1 is chunk 1 (up again).
inline Part part_of_route(Direction direction, std::size_t route, std::int64_t i) {
  return make_turn_part(direction, static_cast<std::int64_t>(route), i);
}

/// Calls the function `work` as many times as `times` says.
template <class Work>
void repeat(std::int64_t times, Work work) {
  for (std::int64_t i = 0; i < times; ++i) work();
}

}  // namespace stepwright::schedule
