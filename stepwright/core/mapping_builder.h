#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "stepwright/core/tree.h"

namespace stepwright {

/// Puts a mapping together key by key. Time and memory grow with the number of keys, while
/// `Tree::set` looks through all keys each time: for mappings as wide as somebody else's file.
class MappingBuilder {
 public:
  /// Goes on with the keys of `begun`, a mapping or null, which becomes one.
  explicit MappingBuilder(Tree begun = Tree::mapping());

  /// Adds a member, or replaces it.
  MappingBuilder& set(std::string_view key, Tree value);
  /// The value of a key, until the next `set`; null pointer when absent.
  [[nodiscard]] Tree* find(std::string_view key);
  /// Returns the finished mapping.
  [[nodiscard]] Tree take() { return std::move(mapping_); }

 private:
  Tree mapping_;
  /// Indices of values in `mapping_.items`, by key.
  std::map<std::string, std::size_t, std::less<>> places_;
};

}  // namespace stepwright
