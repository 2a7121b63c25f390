#pragma once

#include <cstdint>
#include <optional>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/fields.h"

namespace stepwright::framework_files {

// Code that verl's trainers of reinforcement learning and of fine-tuning share.

/// How verl packs a micro-batch if padding is removed: sequences are concatenated without padding
/// (verl/workers/engine/fsdp/transformer_impl.py).
inline constexpr StatedDocumentPacking kVerlUnpaddedPacking = {
    .packing = {.pad_to = packing::PaddingTarget::kNone,
                .too_long = packing::LongDocumentPolicy::kDrop}};

/// Reads verl's FSDP engine: sharding, gradient type and, for FSDP2 (`second`), offload to the
/// host. The plan's degrees must be complete. Source: verl/workers/config/engine.py:
/// FSDPEngineConfig.
void read_verl_fsdp_engine(const FrameworkSettingsReader& config, bool second, PartialPlan& settled,
                           ImportReport& report);

/// Reads verl's `model_dtype`, the type of FSDP's parameters: with bf16 there are no fp32 master
/// weights, unless adapters (read before) are trained. Sources: verl/workers/config/engine.py,
/// FSDPEngineConfig: model_dtype; verl/utils/torch_dtypes.py.
PlanDraft read_verl_parameter_type(const FrameworkSettingsReader& config, PlanDraft draft);

/// Reads recomputation, its host offload, and LoRA adapters from verl's section `model`
/// (verl/trainer/config/model/hf_model.yaml).
void read_verl_model_section(const FrameworkSettingsReader& model, plan::Plan& plan,
                             StatedModel& model_words);

/// Reads the LoRA adapters of verl's Megatron engine from `model.lora` (hf_model.yaml); nullopt if
/// the rank is 0 or absent.
std::optional<StatedLoraAdapters> verl_megatron_adapters(const FrameworkSettingsReader& lora);

/// Sets the batch of an update (`sequences`, over all ranks), and the micro-batch: a size near
/// `micro_batch` that divides a rank's sequences. Adds a note if the sizes differ.
void set_verl_update_batch(std::int64_t sequences, std::int64_t micro_batch, plan::Plan& plan,
                           StatedStepBatch& batch, ImportReport& report);

/// Returns verl's defaults for Megatron-Core's fields; `said` are the fields that the file sets.
/// Sources: verl/trainer/config/engine/megatron.yaml, verl/utils/megatron_utils.py
/// (make_megatron_module).
DocumentTree verl_megatron_defaults(const DocumentTree& said);

}  // namespace stepwright::framework_files
