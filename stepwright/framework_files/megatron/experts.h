#pragma once

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/model/architecture.h"

namespace stepwright::framework_files {

/// Adds a model's experts and router to `fields`, with Megatron-Core's names; nothing for a dense
/// model.
void add_megatron_expert_fields(DocumentTree& fields, const model::ModelArchitecture& model);
/// Adds the list of layers that have experts (`moe_layer_freq`) to `fields`, unless all layers have
/// them.
void add_megatron_expert_layers(DocumentTree& fields, const model::ModelArchitecture& model);

/// Sets a model's experts and router from Megatron-Core's fields, after attention and dense MLPs
/// have been read; nothing without `num_moe_experts`.
void read_expert_fields(const FrameworkSettingsReader& fields, model::ModelArchitecture& model);
/// Sets which layers of a model have experts, from Megatron-Core's `moe_layer_freq`.
void read_expert_layers(const FrameworkSettingsReader& fields, model::ModelArchitecture& model);

}  // namespace stepwright::framework_files
