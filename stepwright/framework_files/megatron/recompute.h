#pragma once

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/fields.h"

namespace stepwright::framework_files {

/// What a plan recomputes as fields of Megatron-Core's configuration:
/// NVIDIA/Megatron-LM megatron/core/transformer/transformer_config.py (recompute_granularity,
/// recompute_method, recompute_modules).
void add_recompute_fields(Tree& fields, const plan::Plan& plan);

/// Reads such fields; what no plan says is left out by name.
void read_recompute_fields(const Fields& fields, Draft& draft);

}  // namespace stepwright::framework_files
