#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "stepwright/core/tree.h"

namespace stepwright {

/// Builds a mapping (a `DocumentTree`) key by key in linear time, for mappings with very many keys,
/// such as users' files may have; `DocumentTree::set` searches all keys each time.
class TreeMappingBuilder {
 public:
  /// `begun`: mapping to extend, or null to begin with an empty mapping.
  explicit TreeMappingBuilder(DocumentTree begun = DocumentTree::make_empty_mapping());

  /// Adds a key with its value, or replaces the value if the key exists.
  TreeMappingBuilder& set(std::string_view key, DocumentTree value);
  /// Returns the value of a key, valid until the next `set`; null pointer if the key is absent.
  [[nodiscard]] DocumentTree* find(std::string_view key);
  /// Returns the finished mapping. Call it last.
  [[nodiscard]] DocumentTree finished_mapping() { return std::move(mapping_); }

 private:
  DocumentTree mapping_;
  /// Index in `mapping_.items` of the value of each key, for fast look-up.
  std::map<std::string, std::size_t, std::less<>> places_;
};

}  // namespace stepwright
