#include "stepwright/snapshot/trace_walk.h"

#include <utility>

namespace stepwright::snapshot {
namespace {

constexpr std::size_t kMostFailures = 100;

}  // namespace

std::optional<EventKind> event_kind(std::string_view name) {
  for (const auto& [kind, known] : kEventKindNames) {
    if (known == name) return kind;
  }
  return std::nullopt;
}

void TraceWalk::add(const TraceEvent& event) {
  const std::int64_t number = events_++;
  const Block block{.bytes = event.bytes, .event = number, .what = event.stack};
  switch (event.kind) {
    case EventKind::kAlloc:
      if (walk_.allocate(event.address, block)) reserved_at_peak_ = reserved_;
      break;
    // Blocks leave `torch.cuda.memory_allocated` when their freeing is requested.
    case EventKind::kFreeRequested: walk_.free(event.address, block); break;
    case EventKind::kSegmentAlloc:
    case EventKind::kSegmentMap: reserved_ += event.bytes; break;
    case EventKind::kSegmentFree:
    case EventKind::kSegmentUnmap: reserved_ -= event.bytes; break;
    case EventKind::kOutOfMemory:
      if (failures_.size() < kMostFailures) {
        failures_.push_back(
            {.event = number, .bytes = event.bytes, .free_bytes = event.free_bytes});
      }
      break;
    case EventKind::kFreeCompleted:
    case EventKind::kSnapshot: break;
  }
  timeline_.add(number, walk_.added_bytes());
}

DeviceRecording TraceWalk::finish(const std::vector<const Segment*>& segments) && {
  std::int64_t reserved_at_end = 0;
  std::int64_t unused = 0;
  std::int64_t largest_unused = 0;
  for (const Segment* segment : segments) {
    reserved_at_end += segment->bytes;
    unused += segment->unused_bytes;
    largest_unused = std::max(largest_unused, segment->largest_unused_bytes);
    for (const SegmentBlock& block : segment->blocks) {
      walk_.found_at_end(block.address, {.bytes = block.bytes, .what = block.stack});
    }
  }
  DeviceRecording recording{.events = events_,
                            .peak_bytes = walk_.peak_bytes(),
                            .reserved_bytes = reserved_at_end - reserved_ + reserved_at_peak_,
                            .reserved_at_end_bytes = reserved_at_end,
                            .unused_bytes = unused,
                            .largest_unused_bytes = largest_unused,
                            .before_bytes = walk_.before_bytes(),
                            .at_peak = walk_.at_peak(),
                            .timeline = timeline_.points(),
                            .failures = std::move(failures_),
                            .overflows = walk_.overflows()};
  if (walk_.peak_event() >= 0) recording.peak_event = walk_.peak_event();
  for (TimelinePoint& point : recording.timeline) point.bytes += recording.before_bytes;
  return recording;
}

}  // namespace stepwright::snapshot
