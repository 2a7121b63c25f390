#pragma once

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/model/architecture.h"

namespace stepwright::framework_files {

/// Adds a model's experts and router to `fields`, with Megatron-Core's names; nothing for a dense
/// model.
void add_expert_fields(Tree& fields, const model::Architecture& model);
/// Adds the list of layers that have experts (`moe_layer_freq`) to `fields`, unless all layers have
/// them.
void add_expert_layer_list(Tree& fields, const model::Architecture& model);

/// Sets a model's experts and router from Megatron-Core's fields, after attention and dense MLPs
/// have been read; nothing without `num_moe_experts`.
void read_expert_fields(const Fields& fields, model::Architecture& model);
/// Sets which layers of a model have experts, from Megatron-Core's `moe_layer_freq`.
void read_expert_layers(const Fields& fields, model::Architecture& model);

}  // namespace stepwright::framework_files
