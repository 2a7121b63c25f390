#pragma once

#include <span>
#include <string>
#include <string_view>

#include "stepwright/model/architecture.h"

namespace stepwright::model {

/// The name of an inline model field in another file format, for error messages.
struct FieldName {
  std::string_view field;  ///< Name in the inline mapping: heads, experts.top_k, ...
  std::string_view name;   ///< Name in the file that was read: num_attention_heads, ...
};

/// Checks a model like `check(model, where)`, but messages use the key names of the file that was
/// read. A field that `names` does not list keeps its inline name.
void check(const Architecture& model, const std::string& where, std::span<const FieldName> names);

}  // namespace stepwright::model
