#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stepwright/model/architecture.h"

namespace stepwright::framework_files {

/// Returns a pattern for `unfrozen_parameters` that trains everything except the frozen parts of a
/// model; names that belong to no part stay trained. Fails with `kUnsupported` if transformers has
/// no names for the model.
std::string unfrozen_pattern(const model::Architecture& model);

/// Returns the parts of a model that `unfrozen_parameters` leaves frozen. The patterns are those of
/// `unfrozen_pattern`, or names with which whole parts begin (`model.language_model.*`, `lm_head`).
/// nullopt if they divide a layer, freeze parts that a job always trains (head, last norm), or have
/// another form.
std::optional<model::Frozen> frozen_parts_of_patterns(const std::vector<std::string>& patterns,
                                                      const model::Architecture& model);

}  // namespace stepwright::framework_files
