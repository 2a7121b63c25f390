#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/snapshot/peak_walk.h"
#include "stepwright/snapshot/stack_table.h"
#include "stepwright/snapshot/timeline.h"

namespace stepwright::snapshot {

/// A failed allocation in a memory snapshot.
struct FailedAllocation {
  std::int64_t event = 0;
  std::int64_t bytes = 0;       ///< Bytes of the allocation that failed.
  std::int64_t free_bytes = 0;  ///< Free bytes of the device when the allocation failed.
};

/// Contents of a memory snapshot for one device: its peak, the blocks at the peak, and failures.
/// Events are numbered from 0 on each device.
struct DeviceMemorySnapshot {
  std::int64_t device = 0;
  std::int64_t events = 0;
  /// Largest number of bytes in use, as the program requested them.
  std::int64_t peak_bytes = 0;
  /// Index of the event that reached the peak; nullopt: the peak was before the first event.
  std::optional<std::int64_t> peak_event_index;
  /// Bytes that the caching allocator had reserved from the device at the peak.
  std::int64_t reserved_bytes = 0;
  /// Bytes that the caching allocator had reserved from the device when the snapshot was taken.
  std::int64_t reserved_at_end_bytes = 0;
  /// Reserved bytes that no block used when the snapshot was taken.
  std::int64_t unused_bytes = 0;
  /// Largest contiguous piece, in bytes, of the reserved memory that no block used when the
  /// snapshot was taken.
  std::int64_t largest_unused_bytes = 0;
  /// Bytes of device memory in use before the first recorded event.
  std::int64_t bytes_before_first_event = 0;
  /// Blocks in use at the peak, in order of allocation; their `what` is the `StackId` of their call
  /// stack.
  std::vector<MemoryBlock> at_peak;
  /// Bytes in use over the events, in at most 256 points.
  std::vector<MemoryTimelinePoint> timeline;
  std::vector<FailedAllocation> failures;  ///< The first 100 allocations that failed.
  /// True if more than 4 Mi blocks were in use at a time, so that some were left out.
  bool has_left_out_blocks = false;
};

/// A memory snapshot of PyTorch's caching allocator, as read from a file.
struct AllocatorSnapshot {
  std::string file;
  /// Recordings of the devices that hold or held memory, by device number.
  std::vector<DeviceMemorySnapshot> devices;
  CallStackTable stacks;
  /// Number of ignored events, by their unknown kind.
  std::map<std::string, std::int64_t> unknown_events;
};

}  // namespace stepwright::snapshot
