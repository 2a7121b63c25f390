#pragma once

#include <string>
#include <string_view>

#include "stepwright/core/tree.h"

namespace stepwright {

/// Values and file name of a `YamlJsonDocument`; every `DocumentNode` of it points here.
struct DocumentContent {
  std::string name;
  DocumentTree root;
};

/// Returns a value as text for a message: `'ring'`, `"5"` (text in quotes), `8`, `a list`, `a
/// mapping`, `empty`.
std::string describe_tree_value(const DocumentTree& value);

/// Replaces the scalar at a dotted path such as `batch.length`; missing keys are created. `value`:
/// a YAML scalar, or a factor of the present number such as `2x`. Fails as
/// `YamlJsonDocument::copy_with_replaced_scalar`; `file`: name for errors.
void replace_scalar_at_path(DocumentTree& root, std::string_view path, std::string_view value,
                            const std::string& file);

}  // namespace stepwright
