#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "stepwright/core/tree.h"

namespace stepwright {

/// Builds a mapping (a `Tree`) key by key in linear time, for mappings with very many keys, such as
/// users' files may have; `Tree::set` searches all keys each time.
class MappingBuilder {
 public:
  /// `begun`: mapping to extend, or null to begin with an empty mapping.
  explicit MappingBuilder(Tree begun = Tree::mapping());

  /// Adds a key with its value, or replaces the value if the key exists.
  MappingBuilder& set(std::string_view key, Tree value);
  /// Returns the value of a key, valid until the next `set`; null pointer if the key is absent.
  [[nodiscard]] Tree* find(std::string_view key);
  /// Returns the finished mapping. Call it last.
  [[nodiscard]] Tree take() { return std::move(mapping_); }

 private:
  Tree mapping_;
  /// For each key, the index of its value in `mapping_.items`.
  std::map<std::string, std::size_t, std::less<>> places_;
};

}  // namespace stepwright
