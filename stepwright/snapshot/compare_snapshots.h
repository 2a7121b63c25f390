#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "stepwright/memory/memory.h"
#include "stepwright/snapshot/match.h"
#include "stepwright/snapshot/recording.h"

namespace stepwright::snapshot {

/// One rank's recording beside the plan.
struct ComparedRank {
  std::string file;
  std::int64_t rank = -1;  ///< Rank of the recording; -1: not known.
  std::int64_t stage = 0;  ///< Pipeline position of the rank.
  Recording recording;
  /// Predicted peak of that position, as PyTorch's allocator counts.
  std::int64_t predicted_peak_bytes = 0;
  SnapshotMatch match;
};

/// The snapshots of a run beside its plan.
struct SnapshotComparison {
  std::vector<ComparedRank> ranks;  ///< Ranks in the order of files and devices.
  std::size_t fullest = 0;          ///< Index in `ranks` of the one with the largest peak.
  std::vector<std::string> notes;   ///< Remarks for people who read the answer.
};

/// Reads the snapshots of some ranks and compares each with the plan. Which rank a file is: as its
/// name says where each name has another number of a rank; of a file with a device for each
/// position device N is position N; other files are positions in order where there is one for each,
/// and ranks in order where there are more. A single file is the fullest position. Fails with
/// `kInput` as `read_snapshot`.
SnapshotComparison compare_snapshots(const std::vector<std::string>& files, const plan::Job& job,
                                     const step::StepProgram& program);

/// Memory of a framework beside the account of tensors and states, learned from a snapshot.
struct LearnedMargins {
  double other_bytes = 0;    ///< Bytes in the allocator beyond states and tensors of the plan.
  double fragmentation = 0;  ///< Reserved but not in use, as a share of tensors that come and go.
};
LearnedMargins learned_margins(const SnapshotComparison& comparison,
                               const memory::MemoryReport& report);

/// `snapshot` of `memory --json` (docs/formats.md).
nlohmann::ordered_json snapshot_json(const SnapshotComparison& comparison);

}  // namespace stepwright::snapshot
