#pragma once

#include <cstdint>
#include <vector>

namespace stepwright::snapshot {

/// One point of a timeline.
struct TimelinePoint {
  std::int64_t event = 0;  ///< First event of the events that the point stands for.
  std::int64_t bytes = 0;  ///< Largest sum at any of those events.
};

/// A sum over any number of events, reduced to at most 256 points.
class Timeline {
 public:
  /// Adds the sum after an event; events must come in order.
  void add(std::int64_t event, std::int64_t bytes);
  [[nodiscard]] const std::vector<TimelinePoint>& points() const { return points_; }

 private:
  std::int64_t width_ = 1;  ///< Number of events for which one point stands.
  std::vector<TimelinePoint> points_;
};

}  // namespace stepwright::snapshot
