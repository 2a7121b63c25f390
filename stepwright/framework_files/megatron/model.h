#pragma once

#include <optional>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/model/architecture.h"

namespace stepwright::framework_files {

/// Adds the sizes of a model to `fields`, with Megatron-Core's names (`hidden_size`, `num_layers`,
/// ...).
void add_megatron_model_fields(DocumentTree& fields, const model::ModelArchitecture& model);

/// Returns the sizes of a model as a mapping with Megatron-Core's names (`hidden_size`,
/// `num_layers`, ...).
DocumentTree megatron_model_sizes(const model::ModelArchitecture& model);

/// Sets the draft's model from Megatron-Core's fields; if layers, width, heads or vocabulary are
/// missing, it stays empty, and `lacks` names them. Fails with `kInput` for contradictory sizes,
/// and with `kUnsupported` for a model that is no decoder, unless the user states another model.
PlanDraft read_megatron_model_fields(const FrameworkSettingsReader& fields, const UserFacts& given,
                                     PlanDraft draft, ImportReport& report);

}  // namespace stepwright::framework_files
