#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stepwright/snapshot/planned_peak.h"
#include "stepwright/snapshot/recording.h"

namespace stepwright::snapshot {

/// Blocks at a run's peak with the same frames.
struct BlockGroup {
  std::int64_t bytes = 0;
  std::int64_t count = 0;
  std::vector<std::string> frames;  ///< Innermost first (`shown_frames`); empty: none recorded.
};

/// Groups blocks by the frames that people see, the largest group first.
std::vector<BlockGroup> blocks_by_frames(const StackTable& stacks, std::span<const Block> blocks);

/// Blocks at the plan's peak that the run does not have, of one name.
struct Missing {
  std::string tensor;  ///< Name of the blocks, from `memory::block_name`.
  std::int64_t bytes = 0;
  std::int64_t count = 0;
};

/// A run's blocks at its peak beside those of a plan at its own. Matched bytes are the run's.
struct SnapshotMatch {
  std::int64_t matched_bytes = 0;  ///< The sum of the three below.
  std::int64_t by_size = 0;        ///< Blocks of the size of a planned one, in order.
  std::int64_t by_layout = 0;      ///< Model states in flat buffers, or cut in pieces.
  /// Bytes of blocks from before the recording, as far as states remain.
  std::int64_t by_lifetime = 0;
  std::vector<BlockGroup> unexplained;  ///< Blocks that the plan does not have, largest first.
  /// Planned blocks that the run does not have, largest first.
  std::vector<Missing> missing;
};

/// Matches blocks in this order: of equal size, age and module; of equal size and age, where blocks
/// from before the recording are as old as model states; neighbouring states whose sum is one
/// block, with up to 1/128 of padding, or one state that is the sum of neighbouring blocks; of
/// equal size; blocks from before the recording, with what is left of the model states.
SnapshotMatch match_blocks(const Recording& recording, const StackTable& stacks,
                           const PlannedPeak& planned);

}  // namespace stepwright::snapshot
