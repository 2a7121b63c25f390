#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "stepwright/core/named.h"
#include "stepwright/snapshot/recording.h"

namespace stepwright::snapshot {

/// The kinds of events of a trace. Source: pytorch 2.13 torch/csrc/cuda/memory_snapshot.cpp,
/// action_to_str.
enum class EventKind : std::uint8_t {
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
inline constexpr Named<EventKind> kEventKindNames[] = {
    {EventKind::kAlloc, "alloc"},
    {EventKind::kFreeRequested, "free_requested"},
    {EventKind::kFreeCompleted, "free_completed"},
    {EventKind::kSegmentAlloc, "segment_alloc"},
    {EventKind::kSegmentFree, "segment_free"},
    {EventKind::kSegmentMap, "segment_map"},
    {EventKind::kSegmentUnmap, "segment_unmap"},
    {EventKind::kOutOfMemory, "oom"},
    {EventKind::kSnapshot, "snapshot"}};

/// Returns the kind of an event by its name; nullopt for a kind that PyTorch 2.13 does not write.
std::optional<EventKind> event_kind(std::string_view name);

/// An event of a trace.
struct TraceEvent {
  EventKind kind{};
  std::uint64_t address = 0;
  std::int64_t bytes = 0;
  StackId stack = 0;
  std::int64_t free_bytes = 0;  ///< Free bytes of the device, for an allocation that failed.
};

/// A block of a segment when the snapshot was taken.
struct SegmentBlock {
  std::uint64_t address = 0;
  std::int64_t bytes = 0;  ///< Bytes that were requested.
  StackId stack = 0;
};

/// A segment when the snapshot was taken, with the blocks that are in use.
struct Segment {
  std::int64_t device = 0;
  std::int64_t bytes = 0;
  std::int64_t unused_bytes = 0;          ///< Bytes of pieces that no block uses.
  std::int64_t largest_unused_bytes = 0;  ///< Bytes of the largest unused piece.
  std::vector<SegmentBlock> blocks;

  /// Adds an unused piece that follows `run` bytes of other unused pieces. Returns the new length
  /// of the run.
  std::int64_t add_unused(std::int64_t piece_bytes, std::int64_t run) {
    unused_bytes += piece_bytes;
    largest_unused_bytes = std::max(largest_unused_bytes, run + piece_bytes);
    return run + piece_bytes;
  }
};

/// Processes the events of one device's trace in order.
class TraceWalk {
 public:
  void add(const TraceEvent& event);
  /// Counts an event that has no effect.
  void skip() { ++events_; }
  /// Returns the recording of the trace, with the segments of its device.
  [[nodiscard]] DeviceRecording finish(const std::vector<const Segment*>& segments) &&;

 private:
  PeakWalk walk_;
  std::int64_t events_ = 0;
  std::int64_t reserved_ = 0;          ///< Bytes of segments reserved by the events so far.
  std::int64_t reserved_at_peak_ = 0;  ///< Bytes of segments reserved by the events up to the peak.
  Timeline timeline_;
  std::vector<OutOfMemory> failures_;
};

}  // namespace stepwright::snapshot
