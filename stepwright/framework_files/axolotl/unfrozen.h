#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stepwright/model/architecture.h"

namespace stepwright::framework_files {

/// The pattern of `unfrozen_parameters` that trains all but the frozen parts of a model; names that
/// no part of it has stay trained. Fails with `kUnsupported` where transformers has no names for
/// the model.
std::string unfrozen_pattern(const model::Architecture& model);

/// Returns the parts of a model that patterns leave frozen: patterns of `unfrozen_pattern`, or
/// names that whole parts begin with (`model.language_model.*`, `lm_head`). Nothing where they part
/// a layer, freeze what a job always trains (head, last norm), or are another pattern.
std::optional<model::Frozen> frozen_but(const std::vector<std::string>& patterns,
                                        const model::Architecture& model);

}  // namespace stepwright::framework_files
