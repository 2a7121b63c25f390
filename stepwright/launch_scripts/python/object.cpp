#include "stepwright/launch_scripts/python/object.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "stepwright/core/error.h"

namespace stepwright::launch_scripts {
namespace {

using ObjectKind = PythonObject::Kind;

constexpr std::size_t kLongestPythonText = std::size_t{1} << 18;

/// Returns the last name in an expression: "tp" of "args.tp".
std::string name_of_last_part(std::string_view expression) {
  std::string name;
  std::string last;
  for (const char c : expression) {
    const bool word = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    if (word) name += c;
    if (!word && !name.empty()) last = std::exchange(name, "");
    if (c == '(') break;
  }
  if (name.empty()) name = last;
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0) {
    name.insert(0, "value");
  }
  return name.substr(0, 60);
}

/// True if a value contains this body, or is too large to search.
bool leads_to(const PythonObject& value, const PythonObject::Body* body) {
  std::size_t looked = 0;
  std::vector<const PythonObject*> waiting = {&value};
  while (!waiting.empty()) {
    const PythonObject* one = waiting.back();
    waiting.pop_back();
    if (one->body == nullptr) continue;
    if (one->body.get() == body || ++looked > kMaxPythonContainerItems) return true;
    for (const PythonObject& item : one->body->items) waiting.push_back(&item);
    for (const auto& [key, member] : one->body->members) waiting.push_back(&member);
  }
  return false;
}

}  // namespace

void append_python_text(std::string& text, std::string_view part, std::uint32_t line) {
  if (text.size() + part.size() > kLongestPythonText) {
    fail_input(fmt::format("a text in line {} is longer than 256 KiB", line));
  }
  text += part;
}

std::string unknown_python_value_text(std::string_view expression) {
  return fmt::format("{}{}{}", kUnknownValueMarkBegin, name_of_last_part(expression),
                     kUnknownValueMarkEnd);
}

PythonObject PythonObject::unknown(std::string_view name, std::uint32_t line) {
  PythonObject one;
  one.kind = ObjectKind::kUnknown;
  one.text = name_of_last_part(name);
  one.line = line;
  return one;
}

PythonObject PythonObject::string(std::string_view text, std::uint32_t line) {
  PythonObject one;
  one.kind = ObjectKind::kText;
  one.text = text;
  one.line = line;
  return one;
}

PythonObject PythonObject::integer(std::int64_t value, std::uint32_t line) {
  PythonObject one;
  one.kind = ObjectKind::kInteger;
  one.number = value;
  one.line = line;
  return one;
}

PythonObject PythonObject::real(std::string_view digits, std::uint32_t line) {
  PythonObject one = string(digits, line);
  one.kind = ObjectKind::kReal;
  return one;
}

PythonObject PythonObject::boolean(bool value) {
  PythonObject one;
  one.kind = ObjectKind::kBool;
  one.truth = value;
  return one;
}

PythonObject PythonObject::list() {
  PythonObject one;
  one.kind = ObjectKind::kList;
  one.body = std::make_shared<Body>();
  return one;
}

PythonObject PythonObject::record() {
  PythonObject one = list();
  one.kind = ObjectKind::kRecord;
  return one;
}

PythonObject* PythonObject::Body::find(std::string_view name) {
  constexpr std::size_t kFew = 32;
  if (members.size() <= kFew) {
    const auto found =
        std::ranges::find(members, name, &std::pair<std::string, PythonObject>::first);
    return found == members.end() ? nullptr : &found->second;
  }
  // Names are unique and never removed, so the members from this index on are not in the index yet.
  for (std::size_t i = places_.size(); i < members.size(); ++i)
    places_.emplace(members[i].first, i);
  const auto found = places_.find(name);
  return found == places_.end() ? nullptr : &members[found->second].second;
}

void PythonObject::Body::set(const std::string& name, const PythonObject& value) {
  PythonObject own = leads_to(value, this) ? copy_python_value(value) : value;
  if (PythonObject* old = find(name)) {
    *old = std::move(own);
    return;
  }
  if (members.size() == kMaxPythonContainerItems) {
    fail_input(fmt::format("line {}: an object has more than {} members", value.line,
                           kMaxPythonContainerItems));
  }
  members.emplace_back(name, std::move(own));
}

void PythonObject::Body::add(const PythonObject& item) {
  if (items.size() == kMaxPythonContainerItems) return;
  items.push_back(leads_to(item, this) ? copy_python_value(item) : item);
}

std::size_t python_value_size(const PythonObject& value) {
  std::size_t weight = 0;
  std::vector<const PythonObject*> open = {&value};
  while (!open.empty() && weight <= kMaxPythonContainerItems) {
    const PythonObject* one = open.back();
    open.pop_back();
    weight += 1 + one->text.size() / 64;
    if (one->body == nullptr || one->is(ObjectKind::kUnknown)) continue;
    for (const PythonObject& item : one->body->items) open.push_back(&item);
    for (const auto& [key, member] : one->body->members) open.push_back(&member);
  }
  return weight;
}

PythonObject python_record_of_attributes(PythonObject value) {
  const bool object = value.is(ObjectKind::kUnknown) && value.body != nullptr &&
                      value.body->made_by == kUnknownPythonClassName &&
                      !value.body->members.empty();
  if (object) value.kind = ObjectKind::kRecord;
  return value;
}

PythonObject copy_python_value(const PythonObject& value) {
  PythonObject made = value;
  made.body = nullptr;
  if (value.body == nullptr || value.is(ObjectKind::kUnknown)) return made;
  if (python_value_size(value) > kMaxPythonContainerItems)
    return PythonObject::unknown("value", value.line);
  made.body = std::make_shared<PythonObject::Body>();
  made.body->made_by = value.body->made_by;
  for (const PythonObject& item : value.body->items)
    made.body->items.push_back(copy_python_value(item));
  for (const auto& [key, member] : value.body->members) {
    made.body->members.emplace_back(key, copy_python_value(member));
  }
  return made;
}

std::optional<std::vector<PythonObject>> python_loop_items(const PythonObject& value) {
  if (value.is(ObjectKind::kList)) return value.body->items;
  if (!value.is(ObjectKind::kRecord) || !value.body->made_by.empty()) return std::nullopt;
  std::vector<PythonObject> keys;
  for (const auto& [key, member] : value.body->members) {
    keys.push_back(PythonObject::string(key, member.line));
  }
  return keys;
}

PythonObject python_attribute(const PythonObject& value, const std::string& name,
                              std::uint32_t line) {
  const bool record = value.is(ObjectKind::kRecord);
  const PythonObject* member = record ? value.body->find(name) : nullptr;
  PythonObject found =
      member != nullptr ? python_record_of_attributes(*member) : PythonObject::unknown(name, line);
  if (record && member == nullptr && found.text == name) found.body = value.body;
  found.line = line;
  return found;
}

std::string python_str(const PythonObject& value) {
  switch (value.kind) {
    case ObjectKind::kText:
    case ObjectKind::kReal: return value.text;
    case ObjectKind::kInteger: return fmt::to_string(value.number);
    case ObjectKind::kBool: return value.truth ? "True" : "False";
    case ObjectKind::kNone: return "None";
    case ObjectKind::kUnknown: return unknown_python_value_text(value.text);
    case ObjectKind::kList:
    case ObjectKind::kRecord: break;
  }
  return unknown_python_value_text("value");
}

std::optional<std::string> python_mapping_key_text(const PythonObject& key) {
  if (!key.is(ObjectKind::kList)) {
    std::string said = python_str(key);
    const bool open = said.find(kUnknownValueMarkBegin) != std::string::npos;
    return open ? std::nullopt : std::optional(std::move(said));
  }
  std::vector<std::string> parts;
  for (const PythonObject& item : key.body->items) {
    const auto part = item.is(ObjectKind::kList) ? std::nullopt : python_mapping_key_text(item);
    if (!part) return std::nullopt;
    parts.push_back(*part);
  }
  return fmt::format("({})", fmt::join(parts, ", "));
}

std::optional<bool> python_truth(const PythonObject& value) {
  switch (value.kind) {
    case ObjectKind::kNone: return false;
    case ObjectKind::kBool: return value.truth;
    case ObjectKind::kInteger: return value.number != 0;
    case ObjectKind::kReal:
      return value.text.find_first_of("123456789") < value.text.find_first_of("eE");
    case ObjectKind::kText:
      if (value.text.starts_with(kUnknownValueMarkBegin) &&
          value.text.ends_with(kUnknownValueMarkEnd))
        break;
      return !value.text.empty();
    case ObjectKind::kList: return !value.body->items.empty();
    case ObjectKind::kRecord: return !value.body->members.empty() || !value.body->made_by.empty();
    case ObjectKind::kUnknown: break;
  }
  return std::nullopt;
}

const PythonObject* PythonArguments::find(std::string_view name, std::size_t place) const {
  for (const auto& [key, value] : named) {
    if (key == name) return &value;
  }
  return place < unnamed.size() ? &unnamed[place] : nullptr;
}

}  // namespace stepwright::launch_scripts
