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
  std::int64_t bytes = 0;       ///< Bytes that were asked for.
  std::int64_t free_bytes = 0;  ///< Free bytes of the device.
};

/// The blocks and events of one device in a snapshot. Events count from 0 within the device.
struct Recording {
  std::int64_t device = 0;
  std::int64_t events = 0;
  std::int64_t peak_bytes = 0;             ///< Largest sum of blocks as the program asked for them.
  std::optional<std::int64_t> peak_event;  ///< nullopt: the peak was there before the first event.
  std::int64_t reserved_bytes = 0;         ///< Segments of the caching allocator at the peak.
  /// Segments of the caching allocator when the snapshot was taken.
  std::int64_t reserved_at_end_bytes = 0;
  std::int64_t unused_bytes = 0;          ///< Bytes of those segments that no block uses.
  std::int64_t largest_unused_bytes = 0;  ///< Largest piece of the unused bytes.
  std::int64_t before_bytes = 0;          ///< Bytes in use before the first event.
  std::vector<Block> at_peak;             ///< Blocks in order; `what` is a `StackId`.
  std::vector<TimelinePoint> timeline;    ///< Bytes in use over events.
  std::vector<OutOfMemory> failures;      ///< The first 100 failures.
  bool overflows = false;  ///< More than 4 Mi blocks were in use, of which some were left out.
};

/// A snapshot of PyTorch's caching allocator.
struct Snapshot {
  std::string file;
  std::vector<Recording> devices;  ///< Devices that hold or held anything, by number.
  StackTable stacks;
  std::map<std::string, std::int64_t> unknown_events;  ///< Kinds of events that count for nothing.
};

}  // namespace stepwright::snapshot
