#pragma once

#include <string>
#include <string_view>

#include "stepwright/core/tree.h"

namespace stepwright {

/// The tree and the file name of a document; nodes hold pointers into it.
struct DocumentContent {
  std::string name;
  Tree root;
};

/// Describes a value for a message: `'ring'`, `"5"` (text in quotes), `8`, `a list`, `a mapping`,
/// `empty`.
std::string describe(const Tree& value);

/// Replaces the scalar at a dotted path, as documented at `Document::with`.
void set_at(Tree& root, std::string_view path, std::string_view value, const std::string& file);

}  // namespace stepwright
