#pragma once

#include <filesystem>

#include "stepwright/runtime/messages/groups.h"
#include "stepwright/runtime/rank/rank_state.h"

namespace stepwright::runtime {

enum class WholeState : std::uint8_t { kWeights, kGradients };

/// Assembles whole parameters, or their gradients before clipping, from the shards of all ranks;
/// rank 0 writes them to a safetensors file, named as `ParameterSlice::name`. Every rank must call
/// it. Only for small models: each parameter passes through every rank.
void assemble_and_write_whole_model(RankState& rank, const RankCommunicators::RankWorld& world,
                                    WholeState which, const std::filesystem::path& path);

}  // namespace stepwright::runtime
