#pragma once

#include <cstdint>
#include <string>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft.h"
#include "stepwright/framework_files/fields.h"

namespace stepwright {

/// What PyTorch's FSDP is asked for through Accelerate.
struct FsdpChoice {
  std::string states = "NNN";  ///< As `sharding_of` reads it; NNN is plain data parallelism.
  bool by_node = false;        ///< The devices of a node share them (FSDP1's HYBRID_SHARD).
  bool checkpointing = false;  ///< Of activations, by FSDP itself.
};

/// The states that a word shares: `true` or `false` for reshard_after_forward, a strategy of FSDP1
/// in any case, or its number. Fails with `kInput` on any other, at its place.
/// huggingface/accelerate src/accelerate/utils/constants.py: FSDP_SHARDING_STRATEGY.
FsdpChoice fsdp_choice(std::string word, Node place);

/// The same of a section `fsdp_config`, whose keys may begin with `fsdp_`; `usual` where it says
/// nothing.
/// huggingface/accelerate src/accelerate/utils/dataclasses.py: FullyShardedDataParallelPlugin.
FsdpChoice read_fsdp_section(const Fields& section, FsdpChoice usual = {.states = "GGG"});

/// The section that asks FSDP2 for a plan's states; `checkpointing`: FSDP itself recomputes.
Tree fsdp_section(const Plan& plan, bool checkpointing);

/// Shares the states over the ranks that are left to data and context parallelism, in `copies`
/// groups. Ranks must be settled.
void spread_states(const FsdpChoice& choice, std::int64_t copies, Draft& draft);

}  // namespace stepwright
