#pragma once

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/model/architecture.h"

namespace stepwright::framework_files {

/// Adds a model's experts and router as fields with Megatron-Core's names.
void add_expert_fields(Tree& fields, const model::Architecture& model);
/// Adds which layers have experts, unless all do.
void add_expert_layers(Tree& fields, const model::Architecture& model);

/// Reads experts and router into a model, which so far has attention and dense MLPs.
void read_experts(const Fields& fields, model::Architecture& model);
/// Reads which layers have experts.
void read_expert_layers(const Fields& fields, model::Architecture& model);

}  // namespace stepwright::framework_files
