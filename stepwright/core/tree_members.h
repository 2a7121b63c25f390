#pragma once

#include <cstddef>
#include <ranges>
#include <string>
#include <utility>

#include "stepwright/core/tree.h"

namespace stepwright {

/// Returns the keys and values of a mapping's tree, in order: `for (const auto& [key, value] :
/// tree_members(mapping))`. Empty for a null tree.
inline auto tree_members(const DocumentTree& mapping) {
  return std::views::iota(std::size_t{0}, mapping.items.size() / 2) |
         std::views::transform([&mapping](std::size_t i) {
           return std::pair<const std::string&, const DocumentTree&>(mapping.items[2 * i].text,
                                                                     mapping.items[2 * i + 1]);
         });
}

}  // namespace stepwright
