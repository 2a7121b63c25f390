#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stepwright/snapshot/planned_peak.h"
#include "stepwright/snapshot/recording.h"

namespace stepwright::snapshot {

/// Blocks at a run's peak that were allocated with the same frames.
struct BlockGroup {
  std::int64_t bytes = 0;
  std::int64_t count = 0;
  /// Frames, innermost first (`shown_frames`); empty: none were recorded.
  std::vector<std::string> frames;
};

/// Returns the blocks grouped by the frames that people are shown, the largest group first.
std::vector<BlockGroup> blocks_by_frames(const StackTable& stacks, std::span<const Block> blocks);

/// Blocks of one name at the plan's peak that the run does not have.
struct MissingBlocks {
  std::string tensor;  ///< Name of the blocks, from `memory::block_name`.
  std::int64_t bytes = 0;
  std::int64_t count = 0;
};

/// A run's blocks at its peak, matched to those of a plan at its own peak. Matched bytes are the
/// run's.
struct SnapshotMatch {
  std::int64_t matched_bytes = 0;  ///< Sum of `by_size`, `by_layout` and `by_lifetime`.
  std::int64_t by_size = 0;  ///< Bytes of blocks matched to planned blocks of equal size, in order.
  std::int64_t by_layout = 0;  ///< Bytes of model states in flat buffers, or cut into pieces.
  /// Bytes of blocks from before the recording that are matched to remaining model states.
  std::int64_t by_lifetime = 0;
  std::vector<BlockGroup> unexplained;  ///< Blocks that the plan does not have, largest first.
  /// Planned blocks that the run does not have, largest first.
  std::vector<MissingBlocks> missing;
};

/// Matches blocks in this order: blocks of equal size, age and module; of equal size and age (a
/// block from before the recording counts as old, like model states); one block to the sum of
/// neighbouring states, with up to 1/128 of padding, or neighbouring blocks to one state; of equal
/// size; blocks from before the recording to the remaining model states.
SnapshotMatch match_blocks(const DeviceRecording& recording, const StackTable& stacks,
                           const PlannedPeak& planned);

}  // namespace stepwright::snapshot
