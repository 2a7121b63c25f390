#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "stepwright/checkpoint/shards.h"
#include "stepwright/runtime/rank/rank_state.h"

namespace stepwright::runtime {

/// A copy of the tensors that a rank writes to a checkpoint: the weights (in the optimizer's type)
/// and optimizer states of which it is the first holder.
struct StateCopy {
  std::vector<std::vector<std::byte>> buffers;
  /// Tensors to write, whose bytes are in `buffers`.
  std::vector<checkpoint::ShardTensor> tensors;
  /// Positions of the tensors in whole parameters.
  std::vector<checkpoint::IndexedTensor> indexed;
};
/// Copies a rank's states to the host, so that the run can continue while they are written.
StateCopy copy_states(RankState& rank);

/// Returns the type of the states, as safetensors calls it.
std::string state_dtype(const RankState& rank);
/// Returns the names of the states that each parameter has.
std::vector<std::string> state_names(const RankState& rank);

/// Assembles this rank's states from a checkpoint of any plan of the same model. Fails with
/// `kInput`, naming the parameter, when the checkpoint is of another model, type or optimizer.
void load_states(RankState& rank, checkpoint::ShardReader& reader);

}  // namespace stepwright::runtime
