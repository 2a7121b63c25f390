#pragma once

#include <filesystem>

#include "stepwright/runtime/messages/groups.h"
#include "stepwright/runtime/rank/rank_state.h"

namespace stepwright::runtime {

enum class WholeState : std::uint8_t { kWeights, kGradients };

/// Assembles whole parameters (or their gradients before clipping) from all ranks; rank 0 writes
/// them as safetensors, named as `ParameterSlice::name`. Every rank calls it. For small models
/// only: each parameter passes through every rank.
void write_whole_model(RankState& rank, const Groups::World& world, WholeState which,
                       const std::filesystem::path& path);

}  // namespace stepwright::runtime
