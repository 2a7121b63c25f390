#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stepwright/diagnose/finding.h"
#include "stepwright/diagnose/out_of_memory.h"
#include "stepwright/logs/files/byte_source.h"
#include "stepwright/snapshot/match.h"

namespace stepwright::diagnose {

/// Memory of one device, from a snapshot of PyTorch's allocator.
struct SnapshotMemory {
  std::string file;
  /// Rank that wrote the snapshot, from the file's name; `kUnknown`: the name has none.
  std::int64_t rank = logs::kUnknown;
  std::int64_t device = 0;
  std::int64_t events = 0;
  /// Largest number of bytes that were allocated at the same time while the snapshot recorded.
  std::int64_t peak_bytes = 0;
  /// Bytes that the allocator had reserved from the device when the snapshot was taken.
  std::int64_t reserved_bytes = 0;
  std::int64_t unused_bytes = 0;  ///< Reserved bytes that are in no allocated block.
  /// Bytes of the largest contiguous piece of unused memory, which limits the next allocation.
  std::int64_t largest_unused_bytes = 0;
  /// Last allocation that failed while the snapshot recorded; nullopt: none failed.
  std::optional<snapshot::FailedAllocation> failure;
  /// Blocks allocated at the memory peak, grouped by the code that allocated them: the three
  /// largest groups.
  std::vector<snapshot::SameStackBlocks> largest;
};

/// True if a file begins like a memory snapshot of PyTorch's allocator (pickle or JSON).
bool is_memory_snapshot(logs::FileByteReader& bytes);

/// Reads a memory snapshot of PyTorch's allocator: one entry for each device. Fails with `kInput`
/// if the file is damaged.
std::vector<SnapshotMemory> read_memory_snapshot(logs::FileByteReader& bytes);

/// Returns the last failed allocation of each memory snapshot as an out-of-memory event.
std::vector<OutOfMemoryReport> failed_allocations(std::span<const SnapshotMemory> snapshots);

/// Adds facts of a memory snapshot to an out-of-memory finding: the largest blocks with the code
/// that allocated them, and unused pieces compared with the requested bytes. Uses the snapshot of
/// the event's rank, else one with a failed allocation, else the one with most memory in use.
void add_snapshot_evidence(std::span<const SnapshotMemory> snapshots,
                           const OutOfMemoryReport& event, FaultFinding& finding);

}  // namespace stepwright::diagnose
