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
  std::int64_t rank = logs::kUnknown;  ///< Rank in the name of the file.
  std::int64_t device = 0;
  std::int64_t events = 0;
  std::int64_t peak_bytes = 0;                   ///< Largest sum of blocks.
  std::int64_t reserved_bytes = 0;               ///< Segments when the snapshot was taken.
  std::int64_t unused_bytes = 0;                 ///< Bytes of segments that no block uses ...
  std::int64_t largest_unused_bytes = 0;         ///< ... and the largest piece of that.
  std::optional<snapshot::OutOfMemory> failure;  ///< The last allocation that failed.
  std::vector<snapshot::BlockGroup> largest;     ///< Blocks at the peak by frames; at most three.
};

/// True if a file begins as a snapshot of PyTorch's allocator does, pickle or JSON.
bool is_memory_snapshot(logs::ByteSource& bytes);

/// Reads the devices of a snapshot. Fails with `kInput` as `snapshot::read_snapshot`.
std::vector<SnapshotMemory> read_memory_snapshot(logs::ByteSource& bytes);

/// The last allocation that failed in each snapshot, as events of devices without memory.
std::vector<OutOfMemory> failed_allocations(std::span<const SnapshotMemory> snapshots);

/// Adds to the finding of a device without memory what the snapshot of its rank has: the largest
/// blocks with their frames, and unused pieces beside the bytes that were asked for. Where no
/// snapshot is of that rank, the one of an allocation that failed, else the fullest.
void explain_by_snapshots(std::span<const SnapshotMemory> snapshots, const OutOfMemory& event,
                          Finding& finding);

}  // namespace stepwright::diagnose
