#include "stepwright/core/tree.h"

#include <cassert>

#include "stepwright/core/scalar.h"

namespace stepwright {
namespace {

Tree container(Tree::Kind kind, bool flow) {
  Tree made;
  made.kind = kind;
  made.flow = flow;
  return made;
}

}  // namespace

Tree::Tree(std::string_view words)
    : kind(Kind::kScalar), quoted(is_non_text_scalar(words)), text(words) {}

Tree::Tree(double number) : kind(Kind::kScalar), text(number_text(number)) {}

Tree Tree::scalar(std::string spelling, bool in_quotes) {
  Tree made;
  if (!in_quotes && is_null_word(spelling)) return made;
  made.kind = Kind::kScalar;
  made.quoted = in_quotes && is_non_text_scalar(spelling);
  made.text = std::move(spelling);
  return made;
}

Tree Tree::mapping() { return container(Kind::kMapping, false); }
Tree Tree::sequence() { return container(Kind::kSequence, false); }
Tree Tree::flow_mapping() { return container(Kind::kMapping, true); }
Tree Tree::flow_sequence() { return container(Kind::kSequence, true); }

Tree& Tree::set(std::string_view key, Tree value) {
  if (kind == Kind::kNull) kind = Kind::kMapping;
  assert(kind == Kind::kMapping);
  if (Tree* present = find(key)) {
    *present = std::move(value);
    return *this;
  }
  Tree name(key);
  name.quoted = false;  // A key is always text.
  items.push_back(std::move(name));
  items.push_back(std::move(value));
  return *this;
}

Tree& Tree::add(Tree value) {
  if (kind == Kind::kNull) kind = Kind::kSequence;
  assert(kind == Kind::kSequence);
  items.push_back(std::move(value));
  return *this;
}

const Tree* Tree::find(std::string_view key) const {
  if (kind != Kind::kMapping) return nullptr;
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    if (items[i].text == key) return &items[i + 1];
  }
  return nullptr;
}

Tree* Tree::find(std::string_view key) { return const_cast<Tree*>(std::as_const(*this).find(key)); }

}  // namespace stepwright
