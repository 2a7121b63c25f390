#include "stepwright/framework_files/fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "stepwright/core/nearest.h"
#include "stepwright/core/tree.h"
#include "stepwright/core/utf8.h"

namespace stepwright {

Fields Fields::section(std::string_view key) const {
  static const Document kEmpty = Document::from(Tree::mapping(), "nothing");
  const auto value = find(key);
  if (!value) return Fields(kEmpty.root());
  if (!value->is_mapping()) value->fail("must be a mapping (key: value)");
  return Fields(*value);
}

std::optional<std::string> unread_keys(Node node, std::span<const std::string_view> known,
                                       std::span<const std::string_view> passed) {
  std::vector<std::string> unread;
  for (const auto& [key, value] : node.members()) {
    const auto is_key = [&key = key](std::string_view other) { return other == key; };
    if (std::ranges::any_of(known, is_key) || std::ranges::any_of(passed, is_key)) continue;
    if (nearest(key, known)) {
      value.fail(fmt::format("the key is not known{}", hint_of(key, known)));
    }
    unread.push_back(printable(key));
  }
  if (unread.empty()) return std::nullopt;
  const std::string where = node.path();
  return fmt::format("These keys{} were not read: {}.", where.empty() ? "" : " of " + where,
                     fmt::join(unread, ", "));
}

}  // namespace stepwright
