#include "stepwright/core/tree.h"

#include <cassert>

#include "stepwright/core/scalar.h"

namespace stepwright {
namespace {

DocumentTree container(DocumentTree::TreeValueKind kind, bool flow) {
  DocumentTree made;
  made.kind = kind;
  made.flow = flow;
  return made;
}

}  // namespace

DocumentTree::DocumentTree(std::string_view words)
    : kind(TreeValueKind::kScalar), quoted(is_non_text_scalar(words)), text(words) {}

DocumentTree::DocumentTree(double number)
    : kind(TreeValueKind::kScalar), text(number_text(number)) {}

DocumentTree DocumentTree::make_scalar(std::string spelling, bool in_quotes) {
  DocumentTree made;
  if (!in_quotes && is_null_word(spelling)) return made;
  made.kind = TreeValueKind::kScalar;
  made.quoted = in_quotes && is_non_text_scalar(spelling);
  made.text = std::move(spelling);
  return made;
}

DocumentTree DocumentTree::make_empty_mapping() {
  return container(TreeValueKind::kMapping, false);
}
DocumentTree DocumentTree::make_empty_sequence() {
  return container(TreeValueKind::kSequence, false);
}
DocumentTree DocumentTree::empty_flow_mapping() { return container(TreeValueKind::kMapping, true); }
DocumentTree DocumentTree::empty_flow_sequence() {
  return container(TreeValueKind::kSequence, true);
}

DocumentTree& DocumentTree::set(std::string_view key, DocumentTree value) {
  if (kind == TreeValueKind::kNull) kind = TreeValueKind::kMapping;
  assert(kind == TreeValueKind::kMapping);
  if (DocumentTree* present = find(key)) {
    *present = std::move(value);
    return *this;
  }
  DocumentTree name(key);
  name.quoted = false;  // A key is always text.
  items.push_back(std::move(name));
  items.push_back(std::move(value));
  return *this;
}

DocumentTree& DocumentTree::add(DocumentTree value) {
  if (kind == TreeValueKind::kNull) kind = TreeValueKind::kSequence;
  assert(kind == TreeValueKind::kSequence);
  items.push_back(std::move(value));
  return *this;
}

const DocumentTree* DocumentTree::find(std::string_view key) const {
  if (kind != TreeValueKind::kMapping) return nullptr;
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    if (items[i].text == key) return &items[i + 1];
  }
  return nullptr;
}

DocumentTree* DocumentTree::find(std::string_view key) {
  return const_cast<DocumentTree*>(std::as_const(*this).find(key));
}

}  // namespace stepwright
