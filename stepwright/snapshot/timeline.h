#pragma once

#include <cstdint>
#include <vector>

namespace stepwright::snapshot {

/// One point of a timeline of bytes in use, which stands for a run of events.
struct MemoryTimelinePoint {
  std::int64_t event = 0;  ///< Index of the first event that the point stands for.
  /// Largest number of bytes in use at any event that the point stands for.
  std::int64_t bytes = 0;
};

/// The bytes in use over any number of events, reduced to at most 256 points.
class MemoryTimeline {
 public:
  /// Adds the bytes in use after an event; events must come in order.
  void add(std::int64_t event, std::int64_t bytes);
  [[nodiscard]] const std::vector<MemoryTimelinePoint>& points() const { return points_; }

 private:
  std::int64_t width_ = 1;  ///< Number of consecutive events that one point stands for.
  std::vector<MemoryTimelinePoint> points_;
};

}  // namespace stepwright::snapshot
