#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>

#include "stepwright/schedule/kinds.h"

namespace stepwright::schedule {

/// Writes the turns (schedule entries) of a pipeline rank whose micro-batches arrive on two routes
/// (from both ends, or down and up again), in order on each. `data_gradient` leaves a weight
/// gradient waiting; `weight_gradient` takes the oldest one.
class TwoRouteScheduleWriter {
 public:
  /// Returns the i-th micro-batch of a route in a direction (forward, backward ...) as work of the
  /// pipeline rank.
  using PartOf = std::function<PipelineWorkPart(Direction, std::size_t route, std::int64_t i)>;
  explicit TwoRouteScheduleWriter(PartOf part) : part_(std::move(part)) {}

  PipelineWorkPart forward(std::size_t route) {
    return part_(Direction::kForward, route, forwards_[route]++);
  }
  PipelineWorkPart backward(std::size_t route) {
    return part_(Direction::kBackward, route, backwards_[route]++);
  }
  PipelineWorkPart data_gradient(std::size_t route);
  PipelineWorkPart weight_gradient();

  /// Appends the next backward of a route as a data gradient directly followed by its weight
  /// gradient.
  void append_split_backward(std::size_t route);

  void alone(const PipelineWorkPart& part) {
    turns_.push_back({.part = part, .beside = std::nullopt});
  }
  void together(const PipelineWorkPart& forward, const PipelineWorkPart& other) {
    turns_.push_back({.part = forward, .beside = other});
  }
  Turns take() { return std::move(turns_); }

 private:
  PartOf part_;
  std::array<std::int64_t, 2> forwards_{};
  std::array<std::int64_t, 2> backwards_{};
  std::deque<PipelineWorkPart> waiting_;
  Turns turns_;
};

/// Returns the i-th micro-batch of a route as work of a pipeline rank, for a V-shaped placement:
/// route 0 is chunk 0 (down the pipeline), route 1 is chunk 1 (up again).
inline PipelineWorkPart work_item_of_v_route(Direction direction, std::size_t route,
                                             std::int64_t i) {
  return make_schedule_work_item(direction, static_cast<std::int64_t>(route), i);
}

/// Calls the function `work` as many times as `times` says.
template <class RepeatedWork>
void repeat(std::int64_t times, RepeatedWork work) {
  for (std::int64_t i = 0; i < times; ++i) work();
}

}  // namespace stepwright::schedule
