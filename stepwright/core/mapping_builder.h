#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "stepwright/core/tree.h"

namespace stepwright {

/// Builds a mapping key by key in linear time and memory, while `Tree::set` searches all keys each
/// time. For mappings that may have very many keys, such as those of users' files.
class MappingBuilder {
 public:
  /// Starts from `begun`: a mapping, whose members are kept, or null, which becomes an empty
  /// mapping.
  explicit MappingBuilder(Tree begun = Tree::mapping());

  /// Adds a member, or replaces the value if the key exists.
  MappingBuilder& set(std::string_view key, Tree value);
  /// Returns the value of a key, valid until the next `set`; null pointer if absent.
  [[nodiscard]] Tree* find(std::string_view key);
  /// Returns the finished mapping.
  [[nodiscard]] Tree take() { return std::move(mapping_); }

 private:
  Tree mapping_;
  /// Indices of values in `mapping_.items`, by key.
  std::map<std::string, std::size_t, std::less<>> places_;
};

}  // namespace stepwright
