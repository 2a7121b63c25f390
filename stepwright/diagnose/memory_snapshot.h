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

/// Memory of one device in a snapshot of PyTorch's allocator.
struct SnapshotMemory {
  std::string file;
  std::int64_t rank = logs::kUnknown;  ///< Rank, taken from the file's name.
  std::int64_t device = 0;
  std::int64_t events = 0;
  std::int64_t peak_bytes = 0;  ///< Largest sum of allocated blocks during the record, in bytes.
  /// Bytes of segments that the allocator held when the snapshot was taken.
  std::int64_t reserved_bytes = 0;
  std::int64_t unused_bytes = 0;          ///< Bytes of segments outside of all blocks.
  std::int64_t largest_unused_bytes = 0;  ///< Largest contiguous piece of `unused_bytes`.
  /// The last allocation that failed; nullopt: none did.
  std::optional<snapshot::OutOfMemory> failure;
  /// Blocks allocated at the peak, grouped by frames; the three largest groups.
  std::vector<snapshot::BlockGroup> largest;
};

/// True if a file begins like a snapshot of PyTorch's allocator (pickle or JSON).
bool is_memory_snapshot(logs::ByteSource& bytes);

/// Reads the memory of each device in a snapshot. Fails with `kInput` as `snapshot::read_snapshot`.
std::vector<SnapshotMemory> read_memory_snapshot(logs::ByteSource& bytes);

/// Returns the last failed allocation of each snapshot as an out-of-memory event.
std::vector<OutOfMemory> failed_allocations(std::span<const SnapshotMemory> snapshots);

/// Adds facts of a memory snapshot to an out-of-memory finding: the largest blocks with their
/// frames, and the unused pieces beside the bytes that were requested. Uses the snapshot of the
/// event's rank, else one in which an allocation failed, else the one with the most memory in use.
void explain_by_snapshots(std::span<const SnapshotMemory> snapshots, const OutOfMemory& event,
                          Finding& finding);

}  // namespace stepwright::diagnose
