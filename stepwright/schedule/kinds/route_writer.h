#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>

#include "stepwright/schedule/kinds.h"

namespace stepwright::schedule {

/// Writes the turns (schedule entries) of a position whose micro-batches arrive on two routes, in
/// order on each. A postponed weight gradient waits until `weight_gradient` is called, which takes
/// the oldest one.
class RouteWriter {
 public:
  /// Returns the i-th micro-batch of a route in a direction, as a part.
  using PartOf = std::function<Part(Direction, std::size_t route, std::int64_t i)>;
  explicit RouteWriter(PartOf part) : part_(std::move(part)) {}

  Part forward(std::size_t route) { return part_(Direction::kForward, route, forwards_[route]++); }
  Part backward(std::size_t route) {
    return part_(Direction::kBackward, route, backwards_[route]++);
  }
  Part data_gradient(std::size_t route);
  Part weight_gradient();

  /// Appends a backward as data gradient and weight gradient, one after the other.
  void in_two(std::size_t route);

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

/// Returns the i-th micro-batch of a route as a part, if route 0 is chunk 0 (on the way down) and
/// route 1 is chunk 1.
inline Part chunk_of_route(Direction direction, std::size_t route, std::int64_t i) {
  return make_turn_part(direction, static_cast<std::int64_t>(route), i);
}

/// Calls `work` `times` times.
template <class Work>
void repeat(std::int64_t times, Work work) {
  for (std::int64_t i = 0; i < times; ++i) work();
}

}  // namespace stepwright::schedule
