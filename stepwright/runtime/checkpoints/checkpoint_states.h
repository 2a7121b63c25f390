#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "stepwright/checkpoint/shards.h"
#include "stepwright/runtime/rank/rank_state.h"

namespace stepwright::runtime {

/// Copy in host memory of the tensors that a rank writes to a checkpoint: weights (in the
/// optimizer's type) and optimizer states. Of ranks with equal values, only the first one writes
/// them.
struct CheckpointStateCopy {
  std::vector<std::vector<std::byte>> buffers;
  /// Tensors to write; their bytes are in `buffers`.
  std::vector<checkpoint::FlatTensorView> tensors;
  /// For each tensor in `tensors`, the checkpoint index entry that says which elements of the whole
  /// parameter it holds.
  std::vector<checkpoint::CheckpointTensorEntry> indexed;
};
/// Copies a rank's weights and optimizer states to host memory, so that training continues while
/// the copy is written to a checkpoint.
CheckpointStateCopy copy_states_to_host(RankState& rank);

/// Returns the number format of weights and optimizer states in checkpoints, as safetensors spells
/// it: "F32" or "F64".
std::string checkpoint_state_dtype(const RankState& rank);
/// Returns the names of the tensors that a checkpoint has for each parameter, such as
/// "first_moment"; they depend on the optimizer.
std::vector<std::string> checkpoint_state_names(const RankState& rank);

/// Loads this rank's weights and optimizer states from a checkpoint that any plan of the same model
/// wrote. Fails with `kInput`, naming the parameter, if the checkpoint has another model, type or
/// optimizer.
void load_checkpoint_states(RankState& rank, checkpoint::CheckpointShardReader& reader);

}  // namespace stepwright::runtime
