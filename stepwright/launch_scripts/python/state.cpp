#include "stepwright/launch_scripts/python/state.h"

#include <algorithm>

namespace stepwright::launch_scripts {
namespace {

using ObjectKind = PythonObject::Kind;

bool same_object(const PythonObject& a, const PythonObject& b) {
  return a.kind == b.kind && a.body == b.body && a.number == b.number && a.truth == b.truth &&
         a.text.text == b.text.text;
}

/// What both lists begin with, and behind it something that nobody knows.
std::vector<PythonObject> common_items(const std::vector<PythonObject>& a,
                                       const std::vector<PythonObject>& b,
                                       const std::string& name) {
  std::size_t both = 0;
  while (both < std::min(a.size(), b.size()) && same_object(a[both], b[both])) ++both;
  std::vector<PythonObject> made(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(both));
  if (both == a.size() && both == b.size()) return made;
  PythonObject open = PythonObject::unknown(name, 0);
  open.truth = true;
  const std::vector<PythonObject>& longer = a.size() > b.size() ? a : b;
  open.line = longer[both].line;
  made.push_back(std::move(open));
  return made;
}

/// One of two values.
PythonObject either_object(const PythonObject& a, const PythonObject& b, const std::string& own,
                           const std::string& name) {
  if (same_object(a, b)) return a;
  if (a.is(ObjectKind::kList) && b.is(ObjectKind::kList)) {
    PythonObject made = PythonObject::list();
    made.body->items = common_items(a.body->items, b.body->items, name);
    return made;
  }
  // A text that one branch makes longer.
  const bool texts = a.is(ObjectKind::kText) && b.is(ObjectKind::kText);
  const std::string& shorter = a.text.text.size() < b.text.text.size() ? a.text.text : b.text.text;
  const std::string& longer = a.text.text.size() < b.text.text.size() ? b.text.text : a.text.text;
  if (texts && longer.starts_with(shorter) && (shorter.empty() || shorter.ends_with(' '))) {
    PythonObject made = &shorter == &a.text.text ? a : b;
    PythonString open = python_hole(name, std::max(a.line, b.line));
    open.add({" ", std::max(a.line, b.line)});
    made.text.add(open);
    return made;
  }
  return PythonObject::unknown(own, std::max(a.line, b.line));
}

}  // namespace

PythonState::PythonState(const std::vector<Frame>& frames) : frames_(frames) {
  for (const Frame& frame : frames_) {
    for (const auto& [name, value] : frame.names) keep(value);
  }
}

void PythonState::keep(const PythonObject& value) {
  weight_ += 1 + value.text.text.size() / 64;
  if (value.body == nullptr || bodies_.contains(value.body)) return;
  bodies_.emplace(value.body, *value.body);
  for (const PythonObject& item : value.body->items) keep(item);
  for (const auto& [name, member] : value.body->members) keep(member);
}

void PythonState::restore(std::vector<Frame>& frames) const {
  frames = frames_;
  for (const auto& [body, held] : bodies_) *body = held;
}

void PythonState::merge(std::vector<Frame>& frames, const std::string& name) const {
  for (std::size_t i = 0; i < std::min(frames.size(), frames_.size()); ++i) {
    for (auto& [own, value] : frames[i].names) {
      const auto other = frames_[i].names.find(own);
      if (other != frames_[i].names.end()) value = either_object(value, other->second, own, name);
    }
    for (const auto& [own, value] : frames_[i].names) frames[i].names.try_emplace(own, value);
  }
  for (const auto& [body, held] : bodies_) {
    body->items = common_items(body->items, held.items, name);
    for (const auto& [own, value] : held.members) {
      PythonObject* here = body->find(own);
      if (here == nullptr) {
        body->set(own, value);
      } else {
        *here = either_object(*here, value, own, name);
      }
    }
  }
}

}  // namespace stepwright::launch_scripts
