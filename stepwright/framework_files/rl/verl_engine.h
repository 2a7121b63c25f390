#pragma once

#include <cstdint>
#include <optional>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/fields.h"

namespace stepwright::framework_files {

// What verl's trainers of reinforcement learning and of fine-tuning have in common.

/// verl/workers/engine/fsdp/transformer_impl.py: the answers of a micro-batch one behind the other.
inline constexpr PackingWords kVerlNoPadding = {
    .packing = {.pad_to = packing::PadTo::kNone, .too_long = packing::TooLong::kDrop}};

/// How FSDP shares states, and which it leaves to the host (`second`: FSDP2, which alone has a
/// policy for that). Ranks must be settled. verl/workers/config/engine.py: FSDPEngineConfig.
void read_fsdp_engine(const Fields& config, bool second, Settled& settled, ImportReport& report);

/// The type in which FSDP keeps parameters, once adapters are read: verl/workers/config/engine.py,
/// FSDPEngineConfig: model_dtype; verl/utils/torch_dtypes.py.
Draft read_parameter_type(const Fields& config, Draft draft);

/// Recomputation and adapters of transformers; verl/trainer/config/model/hf_model.yaml.
void read_verl_model(const Fields& model, plan::Plan& plan, ModelWords& model_words);

/// Adapters of Megatron-Bridge, under `lora` of hf_model.yaml.
std::optional<AdapterWords> joined_adapters(const Fields& lora);

/// Sequences of an update, and of a micro-batch, which is smaller where it does not divide a
/// rank's.
void take_update_batch(std::int64_t sequences, std::int64_t micro_batch, plan::Plan& plan,
                       JobBatch& batch, ImportReport& report);

/// Returns the fields of Megatron-Core where a file is silent:
/// verl/trainer/config/engine/megatron.yaml, verl/utils/megatron_utils.py (make_megatron_module).
/// `said`: fields of Megatron that it says.
Tree verl_defaults(const Tree& said);

}  // namespace stepwright::framework_files
