#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/fields.h"

namespace stepwright::framework_files {

/// Options of PyTorch's FSDP, as Accelerate takes them.
struct FsdpChoice {
  std::string states = "NNN";  ///< As `sharding_of` reads it; NNN is plain data parallelism.
  bool by_node = false;        ///< The devices of a node share them (FSDP1's HYBRID_SHARD).
  bool checkpointing = false;  ///< True if FSDP itself recomputes activations.
  bool mesh = true;           ///< Tensor and context parallelism can stand beside it: not of FSDP1.
  bool moves_inputs = false;  ///< True if tensors that checkpointing keeps lie on the host.
  /// Setting that leaves states to the host; nullopt: none does.
  std::optional<UnreadSetting> offload;
};

/// The states that a word shares: `true` or `false` for reshard_after_forward, a strategy of FSDP1
/// in any case, or its number. Fails with `kInput` on any other, at its place.
/// huggingface/accelerate src/accelerate/utils/constants.py: FSDP_SHARDING_STRATEGY.
FsdpChoice fsdp_choice(std::string word, Node place);

/// Reads the states that a section `fsdp_config` shares, whose keys may begin with `fsdp_`; `usual`
/// where it says nothing. huggingface/accelerate src/accelerate/utils/dataclasses.py:
/// FullyShardedDataParallelPlugin.
FsdpChoice read_fsdp_section(const Fields& section, FsdpChoice usual = {.states = "GGG"});

/// True if a setting of FSDP's version says 2; `usual` where it is absent.
bool is_second_version(const std::optional<Node>& version, bool usual);

/// The section that asks FSDP2 for a plan's states; `checkpointing`: FSDP itself recomputes.
Tree fsdp_section(const plan::Plan& plan, bool checkpointing);

/// Whether several ranks share the states of a plan whose ranks are settled.
bool shares_states(const plan::Plan& plan);

/// Leaves to the host what FSDP's CPUOffload does of states that are spread: the optimizer, and
/// parameters with gradients where they are gathered for each use. What no plan has there is said
/// under `setting`. pytorch/pytorch torch/distributed/fsdp/_fully_shard/_fsdp_api.py:
/// CPUOffloadPolicy; huggingface/accelerate src/accelerate/utils/dataclasses.py: set_cpu_offload.
void leave_to_host(const UnreadSetting& setting, Settled& settled, ImportReport& report);

/// Whether FSDP leaves the states of a plan to the host.
bool leaves_to_host(const plan::Plan& plan);

/// Shares the states over the ranks that are left to data and context parallelism, in `copies`
/// groups. Ranks must be settled.
void spread_states(const FsdpChoice& choice, std::int64_t copies, Settled& settled,
                   const JobExtent& extent, ImportReport& report);

}  // namespace stepwright::framework_files
