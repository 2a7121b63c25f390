#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/fields.h"

namespace stepwright::framework_files {

/// Options of PyTorch's FSDP, in the form in which Accelerate reads them.
struct FsdpOptions {
  /// Which states are sharded, as three letters for parameters, gradients and optimizer states: N:
  /// not sharded, I: inside groups of ranks, G: over all ranks. NNN: plain data parallelism.
  std::string states = "NNN";
  /// True if states are sharded only among the devices of each node (FSDP1's HYBRID_SHARD).
  bool by_node = false;
  /// True if FSDP recomputes activations (`activation_checkpointing`).
  bool checkpointing = false;
  /// True if FSDP can be combined with tensor and context parallelism; false for FSDP1.
  bool mesh = true;
  bool offloads_layer_inputs =
      false;  ///< True if the inputs of recomputed layers are kept in host memory.
  /// The setting that offloads parameters, gradients and optimizer states to host memory; nullopt:
  /// no offload.
  std::optional<SettingNotInPlan> offload;
};

/// Returns the sharding that an FSDP setting means: `true` or `false` (reshard_after_forward of
/// FSDP2), or a strategy of FSDP1 (`FULL_SHARD`, in any case, or its number). Fails with `kInput`
/// at the setting `place` for any other word. Source: huggingface/accelerate
/// src/accelerate/utils/constants.py: FSDP_SHARDING_STRATEGY.
FsdpOptions sharding_of_fsdp_setting(std::string word, DocumentNode place);

/// Reads FSDP's options from a section `fsdp_config`, whose keys may begin with `fsdp_`; options
/// that it does not state are those of `usual`. Source: huggingface/accelerate
/// src/accelerate/utils/dataclasses.py: FullyShardedDataParallelPlugin.
FsdpOptions read_fsdp_section(const FrameworkSettingsReader& section,
                              FsdpOptions usual = {.states = "GGG"});

/// True if the setting `version` selects FSDP2; returns `usual` if the setting is absent.
bool selects_fsdp2(const std::optional<DocumentNode>& version, bool usual);

/// Returns the section `fsdp_config` of an Accelerate file that runs a plan under FSDP2;
/// `checkpointing`: FSDP recomputes activations.
DocumentTree fsdp_config_tree(const plan::Plan& plan, bool checkpointing);

/// True if the plan shards optimizer states over more than one rank. The plan's degrees must be
/// complete.
bool shards_optimizer_states(const plan::Plan& plan);

/// Sets the plan's host offload to what FSDP's CPU offload moves: optimizer states, and sharded
/// parameters with their gradients. What no plan can express is reported under `setting`. Sources:
/// pytorch/pytorch torch/distributed/fsdp/_fully_shard/_fsdp_api.py: CPUOffloadPolicy;
/// huggingface/accelerate src/accelerate/utils/dataclasses.py: set_cpu_offload.
void set_fsdp_host_offload(const SettingNotInPlan& setting, PartialPlan& settled,
                           ImportReport& report);

/// True if a plan keeps optimizer states in host memory, so that its FSDP files must switch CPU
/// offload on.
bool needs_fsdp_cpu_offload(const plan::Plan& plan);

/// Sets the plan's sharding, recomputation and offload from FSDP's options. States are sharded over
/// data-parallel and context-parallel ranks, in `copies` groups that each hold all states. The
/// plan's degrees must be complete.
void apply_fsdp_options(const FsdpOptions& choice, std::int64_t copies, PartialPlan& settled,
                        const JobRankCounts& extent, ImportReport& report);

}  // namespace stepwright::framework_files
