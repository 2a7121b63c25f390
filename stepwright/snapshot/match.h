#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stepwright/snapshot/planned_peak.h"
#include "stepwright/snapshot/recording.h"

namespace stepwright::snapshot {

/// Blocks in use at the memory peak of a recorded run that were allocated by the same call stack.
struct SameStackBlocks {
  std::int64_t bytes = 0;
  std::int64_t count = 0;
  /// Call stack that allocated the blocks, innermost frame first, as shown to the user; empty: not
  /// recorded.
  std::vector<std::string> frames;
};

/// Returns blocks grouped by the call stack that allocated them, the group with the most bytes
/// first.
std::vector<SameStackBlocks> group_memory_blocks_by_call_stack(const CallStackTable& stacks,
                                                               std::span<const MemoryBlock> blocks);

/// Predicted blocks of one name at the peak that the recorded run does not have.
struct MissingPredictedBlocks {
  std::string tensor;  ///< Name of the predicted blocks: "mlp.fc1: activation".
  std::int64_t bytes = 0;
  std::int64_t count = 0;
};

/// The blocks in use at a recorded run's memory peak, matched to the blocks predicted for the
/// plan's peak. Matched bytes are those of the run.
struct SnapshotBlockMatch {
  /// Bytes of all matched blocks: the sum of `by_size`, `by_layout` and `by_lifetime`.
  std::int64_t matched_bytes = 0;
  /// Bytes of recorded blocks that are matched to predicted blocks of equal size.
  std::int64_t by_size = 0;
  /// Bytes of recorded blocks, matched to predicted model states, that hold several model states in
  /// one flat buffer, or a part of one.
  std::int64_t by_layout = 0;
  /// Bytes of blocks that existed before the recording and are matched to the remaining predicted
  /// model states.
  std::int64_t by_lifetime = 0;
  /// Recorded blocks that match no predicted block, the group with the most bytes first.
  std::vector<SameStackBlocks> unexplained;
  /// Predicted blocks that match no recorded block, the most bytes first.
  std::vector<MissingPredictedBlocks> missing;
};

/// Matches recorded blocks to predicted ones, in this order of criteria: equal size, age (from
/// before the recording or not) and module; equal size and age; one block to neighbouring model
/// states whose sizes add up (up to 1/128 of padding), or the reverse; equal size; blocks from
/// before the recording to the remaining model states.
SnapshotBlockMatch match_predicted_blocks(const DeviceMemorySnapshot& recording,
                                          const CallStackTable& stacks,
                                          const PlannedStagePeak& planned);

}  // namespace stepwright::snapshot
