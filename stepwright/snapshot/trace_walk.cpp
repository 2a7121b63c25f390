#include "stepwright/snapshot/trace_walk.h"

#include <utility>

namespace stepwright::snapshot {
namespace {

constexpr std::size_t kMostFailures = 100;

}  // namespace

std::optional<TraceEventKind> snapshot_trace_event_kind(std::string_view name) {
  for (const auto& [kind, known] : kEventKindNames) {
    if (known == name) return kind;
  }
  return std::nullopt;
}

void DeviceMemoryTraceWalk::add(const MemoryTraceEvent& event) {
  const std::int64_t number = events_++;
  const MemoryBlock block{.bytes = event.bytes, .event = number, .what = event.stack};
  switch (event.kind) {
    case TraceEventKind::kAlloc:
      if (walk_.allocate(event.address, block)) reserved_at_peak_ = reserved_;
      break;
    // Blocks leave `torch.cuda.memory_allocated` when their freeing is requested.
    case TraceEventKind::kFreeRequested: walk_.free(event.address, block); break;
    case TraceEventKind::kSegmentAlloc:
    case TraceEventKind::kSegmentMap: reserved_ += event.bytes; break;
    case TraceEventKind::kSegmentFree:
    case TraceEventKind::kSegmentUnmap: reserved_ -= event.bytes; break;
    case TraceEventKind::kOutOfMemory:
      if (failures_.size() < kMostFailures) {
        failures_.push_back(
            {.event = number, .bytes = event.bytes, .free_bytes = event.free_bytes});
      }
      break;
    case TraceEventKind::kFreeCompleted:
    case TraceEventKind::kSnapshot: break;
  }
  timeline_.add(number, walk_.bytes_added_since_first_event());
}

DeviceMemorySnapshot DeviceMemoryTraceWalk::finish(
    const std::vector<const AllocatorSegment*>& segments) && {
  std::int64_t reserved_at_end = 0;
  std::int64_t unused = 0;
  std::int64_t largest_unused = 0;
  for (const AllocatorSegment* segment : segments) {
    reserved_at_end += segment->bytes;
    unused += segment->unused_bytes;
    largest_unused = std::max(largest_unused, segment->largest_unused_bytes);
    for (const AllocatorSegmentBlock& block : segment->blocks) {
      walk_.add_block_in_use_at_end(block.address, {.bytes = block.bytes, .what = block.stack});
    }
  }
  DeviceMemorySnapshot recording{.events = events_,
                                 .peak_bytes = walk_.peak_bytes(),
                                 .reserved_bytes = reserved_at_end - reserved_ + reserved_at_peak_,
                                 .reserved_at_end_bytes = reserved_at_end,
                                 .unused_bytes = unused,
                                 .largest_unused_bytes = largest_unused,
                                 .bytes_before_first_event = walk_.bytes_before_first_event(),
                                 .at_peak = walk_.blocks_at_peak(),
                                 .timeline = timeline_.points(),
                                 .failures = std::move(failures_),
                                 .has_left_out_blocks = walk_.has_omitted_memory_blocks()};
  if (walk_.peak_event_index() >= 0) recording.peak_event_index = walk_.peak_event_index();
  for (MemoryTimelinePoint& point : recording.timeline)
    point.bytes += recording.bytes_before_first_event;
  return recording;
}

}  // namespace stepwright::snapshot
