#pragma once

#include <optional>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/model/architecture.h"

namespace stepwright::framework_files {

/// Adds the sizes of a model under the names of Megatron-Core's configuration, of `activation`,
/// `rope_scaling` and `vocab_size` as its arguments mean them.
void add_model_fields(Tree& fields, const model::Architecture& model);

/// The sizes of a model as Megatron's arguments say them.
Tree model_sizes(const model::Architecture& model);

/// Returns a draft with the model of such fields; without one if they do not say layers, width,
/// heads and vocabulary (`lacks` says which), or if it is no decoder and `given` has one in its
/// place. What Megatron assumes where nothing is said is assumed here. Fails with `kInput` on sizes
/// that contradict each other, with `kUnsupported` on a model that is no decoder.
Draft read_model_fields(const Fields& fields, const Given& given, Draft draft,
                        ImportReport& report);

}  // namespace stepwright::framework_files
