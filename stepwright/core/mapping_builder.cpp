#include "stepwright/core/mapping_builder.h"

#include <cassert>
#include <utility>

namespace stepwright {

TreeMappingBuilder::TreeMappingBuilder(DocumentTree begun) : mapping_(std::move(begun)) {
  if (mapping_.kind == DocumentTree::TreeValueKind::kNull)
    mapping_.kind = DocumentTree::TreeValueKind::kMapping;
  assert(mapping_.kind == DocumentTree::TreeValueKind::kMapping);
  for (std::size_t i = 0; i + 1 < mapping_.items.size(); i += 2) {
    places_.emplace(mapping_.items[i].text, i + 1);
  }
}

TreeMappingBuilder& TreeMappingBuilder::set(std::string_view key, DocumentTree value) {
  if (DocumentTree* present = find(key)) {
    *present = std::move(value);
    return *this;
  }
  DocumentTree name(key);
  name.quoted = false;  // A key is always text.
  mapping_.items.push_back(std::move(name));
  places_.emplace(key, mapping_.items.size());
  mapping_.items.push_back(std::move(value));
  return *this;
}

DocumentTree* TreeMappingBuilder::find(std::string_view key) {
  const auto found = places_.find(key);
  return found == places_.end() ? nullptr : &mapping_.items[found->second];
}

}  // namespace stepwright
