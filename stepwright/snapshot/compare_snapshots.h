#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "stepwright/memory/memory.h"
#include "stepwright/snapshot/match.h"
#include "stepwright/snapshot/recording.h"

namespace stepwright::snapshot {

/// One rank's recording, compared to the plan.
struct ComparedRank {
  std::string file;
  std::int64_t rank = -1;  ///< Rank of the recording; -1: unknown.
  std::int64_t stage = 0;  ///< Pipeline position of the rank.
  DeviceRecording recording;
  /// Predicted peak of the rank's pipeline position, as PyTorch's allocator counts.
  std::int64_t predicted_peak_bytes = 0;
  SnapshotMatch match;
};

/// The snapshots of a run, compared to its plan.
struct SnapshotComparison {
  std::vector<ComparedRank> ranks;  ///< Ranks, in the order of files and devices.
  std::size_t fullest = 0;          ///< Index in `ranks` of the rank with the largest peak.
  std::vector<std::string> notes;   ///< Notes for people on the comparison.
};

/// Reads the snapshots of some ranks and compares each with the plan. The rank of a file is: the
/// number in its name, if each name has a different rank's number; in a file with one device for
/// each position, device N is position N; other files are positions in order if there is one for
/// each, and ranks in order if there are more. A single file is the fullest position. Fails with
/// `kInput` as `read_snapshot` does.
SnapshotComparison compare_snapshots(const std::vector<std::string>& files, const plan::Job& job,
                                     const step::StepProgram& program);

/// Memory of a framework in addition to the account of tensors and states, learned from a snapshot.
struct LearnedMargins {
  double other_bytes = 0;  ///< Bytes in the allocator in addition to the plan's states and tensors.
  /// Bytes reserved but not in use, as a share of the bytes of tensors that come and go.
  double fragmentation = 0;
};
LearnedMargins learned_margins(const SnapshotComparison& comparison,
                               const memory::MemoryReport& report);

/// Returns the key `snapshot` of the output of `memory --json` (docs/formats.md).
nlohmann::ordered_json snapshot_json(const SnapshotComparison& comparison);

}  // namespace stepwright::snapshot
