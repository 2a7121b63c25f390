#pragma once

#include <span>
#include <string>
#include <string_view>

#include "stepwright/model/architecture.h"

namespace stepwright::model {

/// Name of one model field in the file from which the model was read (config.json), so that error
/// messages use the user's own keys.
struct ModelFieldName {
  /// Name of the field in this project's inline models: heads, experts.top_k, ...
  std::string_view field;
  /// Name of the field in the file that the user wrote: num_attention_heads, ...
  std::string_view name;
};

/// Throws like `check_model_sizes(model, where)` if sizes are absurd or contradict each other, but
/// names fields as the file that was read spells them; fields missing in `names` keep their inline
/// names.
void check_model_sizes(const ModelArchitecture& model, const std::string& where,
                       std::span<const ModelFieldName> names);

}  // namespace stepwright::model
