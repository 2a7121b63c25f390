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

/// An allocation that failed.
struct OutOfMemory {
  std::int64_t event = 0;
  std::int64_t bytes = 0;       ///< Bytes that were requested.
  std::int64_t free_bytes = 0;  ///< Free bytes of the device.
};

/// The blocks and events of one device in a snapshot. Events count from 0 within the device.
struct DeviceRecording {
  std::int64_t device = 0;
  std::int64_t events = 0;
  /// Largest sum of blocks in use, in bytes as the program requested them.
  std::int64_t peak_bytes = 0;
  /// Event of the peak; nullopt: the peak was before the first event.
  std::optional<std::int64_t> peak_event;
  std::int64_t reserved_bytes = 0;  ///< Bytes of the caching allocator's segments at the peak.
  /// Bytes of the caching allocator's segments when the snapshot was taken.
  std::int64_t reserved_at_end_bytes = 0;
  std::int64_t unused_bytes = 0;          ///< Bytes of the segments at the end that no block uses.
  std::int64_t largest_unused_bytes = 0;  ///< Largest contiguous piece of the unused bytes.
  std::int64_t before_bytes = 0;          ///< Bytes in use before the first event.
  /// Blocks at the peak in order of allocation; `what` is a `StackId`.
  std::vector<Block> at_peak;
  std::vector<TimelinePoint> timeline;  ///< Bytes in use, over the events.
  std::vector<OutOfMemory> failures;    ///< Allocations that failed, the first 100.
  /// True if more than 4 Mi blocks were in use, of which some were left out.
  bool overflows = false;
};

/// A snapshot of PyTorch's caching allocator.
struct Snapshot {
  std::string file;
  std::vector<DeviceRecording> devices;  ///< Devices that hold or held memory, by number.
  StackTable stacks;
  /// Events of unknown kinds, which are ignored, counted by kind.
  std::map<std::string, std::int64_t> unknown_events;
};

}  // namespace stepwright::snapshot
