#pragma once

#include <optional>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/model/architecture.h"

namespace stepwright::framework_files {

/// Adds the sizes of a model under Megatron-Core's names; `activation`, `rope_scaling` and
/// `vocab_size` have the meaning of the arguments with these names.
void add_model_fields(Tree& fields, const model::Architecture& model);

/// Returns the sizes of a model as fields of Megatron's arguments.
Tree model_sizes(const model::Architecture& model);

/// Returns a draft with the model that fields describe, with Megatron's defaults for absent fields.
/// The draft has no model if layers, width, heads or vocabulary are missing (`lacks` says which),
/// or if the model is no decoder and `given` has another one. Fails with `kInput` for sizes that
/// contradict each other, with `kUnsupported` for a model that is no decoder.
Draft read_model_fields(const Fields& fields, const UserFacts& given, Draft draft,
                        ImportReport& report);

}  // namespace stepwright::framework_files
