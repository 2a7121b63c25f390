#include "stepwright/snapshot/timeline.h"

#include <algorithm>

namespace stepwright::snapshot {
namespace {

constexpr std::int64_t kMostPoints = 256;

}  // namespace

void MemoryTimeline::add(std::int64_t event, std::int64_t bytes) {
  while (event / width_ >= kMostPoints) {
    width_ *= 2;
    std::vector<MemoryTimelinePoint> wider;
    for (const MemoryTimelinePoint& point : points_) {
      const std::int64_t first = point.event / width_ * width_;
      if (wider.empty() || wider.back().event != first) {
        wider.push_back({first, point.bytes});
      } else {
        wider.back().bytes = std::max(wider.back().bytes, point.bytes);
      }
    }
    points_ = std::move(wider);
  }
  const std::int64_t first = event / width_ * width_;
  if (points_.empty() || points_.back().event != first) {
    points_.push_back({first, bytes});
  } else {
    points_.back().bytes = std::max(points_.back().bytes, bytes);
  }
}

}  // namespace stepwright::snapshot
