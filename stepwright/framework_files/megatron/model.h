#pragma once

#include <optional>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/model/architecture.h"

namespace stepwright::framework_files {

/// Adds the sizes of a model to `fields`, with Megatron-Core's names (`hidden_size`, `num_layers`,
/// ...).
void add_model_fields(Tree& fields, const model::Architecture& model);

/// Returns the sizes of a model as a mapping with Megatron-Core's names (`hidden_size`,
/// `num_layers`, ...).
Tree megatron_model_sizes(const model::Architecture& model);

/// Sets the draft's model from Megatron-Core's fields; if layers, width, heads or vocabulary are
/// missing, it stays empty, and `lacks` names them. Fails with `kInput` for contradictory sizes,
/// and with `kUnsupported` for a model that is no decoder, unless the user states another model.
Draft read_megatron_model_fields(const Fields& fields, const UserFacts& given, Draft draft,
                                 ImportReport& report);

}  // namespace stepwright::framework_files
