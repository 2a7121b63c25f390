#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "stepwright/core/named.h"
#include "stepwright/snapshot/recording.h"

namespace stepwright::snapshot {

/// The kinds of events in a memory snapshot's trace. Source: pytorch 2.13
/// torch/csrc/cuda/memory_snapshot.cpp, action_to_str.
enum class TraceEventKind : std::uint8_t {
  kAlloc,
  kFreeRequested,
  kFreeCompleted,
  kSegmentAlloc,
  kSegmentFree,
  kSegmentMap,
  kSegmentUnmap,
  kOutOfMemory,
  kSnapshot,
};
inline constexpr Named<TraceEventKind> kEventKindNames[] = {
    {TraceEventKind::kAlloc, "alloc"},
    {TraceEventKind::kFreeRequested, "free_requested"},
    {TraceEventKind::kFreeCompleted, "free_completed"},
    {TraceEventKind::kSegmentAlloc, "segment_alloc"},
    {TraceEventKind::kSegmentFree, "segment_free"},
    {TraceEventKind::kSegmentMap, "segment_map"},
    {TraceEventKind::kSegmentUnmap, "segment_unmap"},
    {TraceEventKind::kOutOfMemory, "oom"},
    {TraceEventKind::kSnapshot, "snapshot"}};

/// Returns the kind of a trace event by its name; nullopt for kinds that PyTorch 2.13 does not
/// write.
std::optional<TraceEventKind> snapshot_trace_event_kind(std::string_view name);

/// An event of a memory snapshot's trace, such as an allocation or a free.
struct MemoryTraceEvent {
  TraceEventKind kind{};
  std::uint64_t address = 0;
  std::int64_t bytes = 0;
  StackId stack = 0;
  /// Free bytes of the device when an allocation failed; unused for other events.
  std::int64_t free_bytes = 0;
};

/// A block of memory in use when the snapshot was taken, inside a segment.
struct AllocatorSegmentBlock {
  std::uint64_t address = 0;
  std::int64_t bytes = 0;  ///< Bytes of the block as the program requested them, before rounding.
  StackId stack = 0;
};

/// A segment (memory that the caching allocator reserved from the device at once) when the snapshot
/// was taken, with the blocks in use.
struct AllocatorSegment {
  std::int64_t device = 0;
  std::int64_t bytes = 0;
  std::int64_t unused_bytes = 0;  ///< Bytes of the segment that no block uses.
  /// Largest contiguous piece, in bytes, of the segment that no block uses.
  std::int64_t largest_unused_bytes = 0;
  std::vector<AllocatorSegmentBlock> blocks;

  /// Adds an unused piece of the segment. `run`: bytes of unused pieces directly before it. Returns
  /// the bytes of the whole contiguous unused run.
  std::int64_t add_unused_segment_piece(std::int64_t piece_bytes, std::int64_t run) {
    unused_bytes += piece_bytes;
    largest_unused_bytes = std::max(largest_unused_bytes, run + piece_bytes);
    return run + piece_bytes;
  }
};

/// Processes the events of one device's trace in order, to find its memory peak.
class DeviceMemoryTraceWalk {
 public:
  void add(const MemoryTraceEvent& event);
  /// Counts an event that does not change memory.
  void count_non_memory_event() { ++events_; }
  /// Returns the recording of the device after all events. `segments`: the device's segments when
  /// the snapshot was taken.
  [[nodiscard]] DeviceMemorySnapshot finish(
      const std::vector<const AllocatorSegment*>& segments) &&;

 private:
  MemoryPeakFinder walk_;
  std::int64_t events_ = 0;
  std::int64_t reserved_ = 0;  ///< Bytes of segments reserved minus released by the events so far.
  /// Bytes of segments reserved minus released by the events up to the peak.
  std::int64_t reserved_at_peak_ = 0;
  MemoryTimeline timeline_;
  std::vector<FailedAllocation> failures_;
};

}  // namespace stepwright::snapshot
