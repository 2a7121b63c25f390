#pragma once

#include <cstdint>
#include <optional>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/fields.h"

namespace stepwright::framework_files {

// Code that verl's trainers of reinforcement learning and of fine-tuning share.

/// Packing of a micro-batch without padding: its answers follow one another
/// (verl/workers/engine/fsdp/transformer_impl.py).
inline constexpr PackingWords kVerlNoPadding = {
    .packing = {.pad_to = packing::PaddingTarget::kNone,
                .too_long = packing::LongDocumentPolicy::kDrop}};

/// Reads how FSDP shards states and which it offloads to the host. `second`: it is FSDP2, which
/// alone has an offload policy. Ranks must be settled. Source: verl/workers/config/engine.py:
/// FSDPEngineConfig.
void read_fsdp_engine(const Fields& config, bool second, PartialPlan& settled,
                      ImportReport& report);

/// Reads the type in which FSDP keeps parameters; adapters must be read before. Sources:
/// verl/workers/config/engine.py, FSDPEngineConfig: model_dtype; verl/utils/torch_dtypes.py.
Draft read_parameter_type(const Fields& config, Draft draft);

/// Reads recomputation and adapters of transformers models
/// (verl/trainer/config/model/hf_model.yaml).
void read_verl_model(const Fields& model, plan::Plan& plan, ModelWords& model_words);

/// Reads adapters of Megatron-Bridge, under `lora` of hf_model.yaml; nullopt if there are none.
std::optional<AdapterWords> verl_bridge_adapters(const Fields& lora);

/// Sets the sequences of an update and of a micro-batch. A micro-batch that does not divide a
/// rank's sequences is made smaller.
void apply_update_batch(std::int64_t sequences, std::int64_t micro_batch, plan::Plan& plan,
                        JobBatch& batch, ImportReport& report);

/// Returns the defaults of Megatron-Core's fields in verl:
/// verl/trainer/config/engine/megatron.yaml, verl/utils/megatron_utils.py (make_megatron_module).
/// `said` are the fields that the file sets.
Tree verl_defaults(const Tree& said);

}  // namespace stepwright::framework_files
