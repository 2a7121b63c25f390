#include "stepwright/framework_files/fields.h"

#include <fmt/format.h>

#include "stepwright/core/tree.h"

namespace stepwright {

Fields Fields::section(std::string_view key) const {
  static const Document kEmpty = Document::from(Tree::mapping(), "nothing");
  const auto value = node_.find(key);
  if (!value || value->is_null()) return Fields(kEmpty.root());
  if (!value->is_mapping()) value->fail("must be a mapping (key: value)");
  return {*value, fmt::format("{}{}.", prefix_, key), asked_};
}

}  // namespace stepwright
