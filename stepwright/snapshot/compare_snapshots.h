#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "stepwright/memory/memory.h"
#include "stepwright/snapshot/match.h"
#include "stepwright/snapshot/recording.h"

namespace stepwright::snapshot {

/// The comparison of one rank's memory snapshot with the plan.
struct RankSnapshotComparison {
  std::string file;
  std::int64_t rank = -1;  ///< Rank whose memory the snapshot recorded; -1: unknown.
  std::int64_t stage = 0;  ///< Pipeline stage of the rank.
  DeviceMemorySnapshot recording;
  /// Predicted peak of the rank's stage in bytes, as PyTorch's caching allocator counts.
  std::int64_t predicted_peak_bytes = 0;
  SnapshotBlockMatch match;
};

/// The comparison of several ranks' memory snapshots with the plan that they ran.
struct SnapshotComparison {
  /// Comparisons of the ranks, in the order of files and devices.
  std::vector<RankSnapshotComparison> ranks;
  std::size_t fullest = 0;         ///< Index in `ranks` of the rank with the largest measured peak.
  std::vector<std::string> notes;  ///< Notes for the user about the comparison.
};

/// Compares PyTorch memory snapshots with the plan that their ranks ran. A file's rank is the
/// number in its name; else files, or the devices in one file, count as pipeline stages in order
/// (as ranks if there are more files than stages). A single file counts as the fullest stage. Fails
/// with `kInput` if a file is no snapshot.
SnapshotComparison compare_snapshots(const std::vector<std::string>& files, const plan::Job& job,
                                     const step::StepProgram& program);

/// Memory that a framework needs in addition to predicted tensors and states, learned from a
/// snapshot.
struct LearnedMemoryMargins {
  /// Bytes in PyTorch's allocator that the framework holds beyond predicted states and tensors.
  double other_bytes = 0;
  /// Bytes reserved by PyTorch's allocator but not in use, divided by the bytes of tensors that
  /// come and go in a step.
  double fragmentation = 0;
};
LearnedMemoryMargins learned_margins(const SnapshotComparison& comparison,
                                     const memory::MemoryReport& report);

/// Returns the JSON value of the key `snapshot` in the output of `memory --json` (docs/formats.md).
nlohmann::ordered_json snapshot_comparison_json(const SnapshotComparison& comparison);

}  // namespace stepwright::snapshot
