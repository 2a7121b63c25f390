#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stepwright/model/architecture.h"

namespace stepwright::framework_files {

/// Returns the regular expression for axolotl's `unfrozen_parameters` with which everything except
/// `model.frozen` is trained; parameters outside the known parts are trained, too. Fails with
/// `kUnsupported` if the parameter names of the model in transformers are unknown.
std::string axolotl_unfrozen_parameters_regex(const model::ModelArchitecture& model);

/// Returns the parts of a model that axolotl freezes if `unfrozen_parameters` has these patterns:
/// name prefixes (`model.language_model.*`) or `axolotl_unfrozen_parameters_regex`. nullopt if they
/// split the layers, freeze the head or the last norm, or have another form.
std::optional<model::FrozenModelParts> frozen_parts_from_axolotl_patterns(
    const std::vector<std::string>& patterns, const model::ModelArchitecture& model);

}  // namespace stepwright::framework_files
