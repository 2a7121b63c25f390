#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/fields.h"

namespace stepwright::framework_files {

/// Options of PyTorch's FSDP, in the form in which Accelerate reads them.
struct FsdpChoice {
  /// Word for which states are sharded, as `sharding_of` reads it; NNN: none, plain data
  /// parallelism.
  std::string states = "NNN";
  /// True if each node shards over its own devices (FSDP1's HYBRID_SHARD).
  bool by_node = false;
  bool checkpointing = false;  ///< True if FSDP itself recomputes activations.
  /// True if FSDP can be combined with tensor and context parallelism; false for FSDP1.
  bool mesh = true;
  bool moves_inputs = false;  ///< True if the tensors that checkpointing keeps are in host memory.
  /// The setting that offloads states to the host; nullopt: none does.
  std::optional<UnreadSetting> offload;
};

/// Returns the states that a word shards: `true` or `false` (reshard_after_forward), or a strategy
/// of FSDP1 in any case or as a number. Fails with `kInput`, at `place`, for any other word.
/// Source: huggingface/accelerate src/accelerate/utils/constants.py: FSDP_SHARDING_STRATEGY.
FsdpChoice fsdp_choice(std::string word, Node place);

/// Reads a section `fsdp_config`, whose keys can begin with `fsdp_`; `usual` is the choice if the
/// section states none. Source: huggingface/accelerate src/accelerate/utils/dataclasses.py:
/// FullyShardedDataParallelPlugin.
FsdpChoice read_fsdp_section(const Fields& section, FsdpChoice usual = {.states = "GGG"});

/// True if the setting of FSDP's version is 2; `usual` if it is absent.
bool is_second_version(const std::optional<Node>& version, bool usual);

/// Returns the section that configures FSDP2 for a plan; `checkpointing`: FSDP itself recomputes.
Tree fsdp_section(const plan::Plan& plan, bool checkpointing);

/// True if several ranks share the states of a plan, whose ranks must be settled.
bool shares_states(const plan::Plan& plan);

/// Offloads to the host what FSDP's CPUOffload moves there if states are sharded: the optimizer,
/// and parameters with gradients if they are gathered for each use. Properties that no plan can
/// express are reported under `setting`. Sources: pytorch/pytorch
/// torch/distributed/fsdp/_fully_shard/_fsdp_api.py: CPUOffloadPolicy; huggingface/accelerate
/// src/accelerate/utils/dataclasses.py: set_cpu_offload.
void offload_fsdp_states(const UnreadSetting& setting, PartialPlan& settled, ImportReport& report);

/// True if FSDP offloads the states of a plan to the host.
bool is_fsdp_offloading(const plan::Plan& plan);

/// Shards the states over the data-parallel and context-parallel ranks, in `copies` groups of ranks
/// that each hold all states. Ranks must be settled.
void shard_states_over_ranks(const FsdpChoice& choice, std::int64_t copies, PartialPlan& settled,
                             const JobExtent& extent, ImportReport& report);

}  // namespace stepwright::framework_files
