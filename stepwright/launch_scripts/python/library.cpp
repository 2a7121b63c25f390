#include "stepwright/launch_scripts/python/library.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "stepwright/launch_scripts/python/arithmetic.h"
#include "stepwright/launch_scripts/text.h"

namespace stepwright::launch_scripts {
namespace {

using ObjectKind = PythonObject::Kind;

/// Removes the characters in `what` from the left or right end of a text.
std::string_view stripped_text(std::string_view text, std::string_view what, bool left,
                               bool right) {
  std::size_t begin = 0;
  std::size_t end = text.size();
  while (left && begin < end && what.find(text[begin]) != std::string_view::npos) ++begin;
  while (right && end > begin && what.find(text[end - 1]) != std::string_view::npos) --end;
  return text.substr(begin, end - begin);
}

/// Splits a text as `split()` does; at blanks if the separator is empty.
PythonObject python_split(const PythonObject& text, std::string_view separator) {
  PythonObject parts = PythonObject::list();
  std::string_view rest = text.text;
  for (std::size_t end = 0; end != std::string_view::npos;) {
    end = separator.empty() ? rest.find_first_of(" \t\n\v\f\r") : rest.find(separator);
    const std::string_view part = rest.substr(0, end);
    const bool kept = !separator.empty() || !part.empty();
    if (kept) parts.body->add(PythonObject::string(part, text.line));
    if (end != std::string_view::npos)
      rest.remove_prefix(end + std::max<std::size_t>(separator.size(), 1));
  }
  return parts;
}

PythonObject joined_texts(const PythonObject& between, const PythonObject& list) {
  PythonObject all = PythonObject::string("", between.line);
  for (const PythonObject& item : list.body->items) {
    if (&item != &list.body->items.front())
      append_python_text(all.text, between.text, between.line);
    append_python_text(all.text, python_str(item), between.line);
  }
  return all;
}

PythonObject replaced_text(const PythonObject& text, const std::string& from,
                           const std::string& to) {
  PythonObject made = PythonObject::string("", text.line);
  for (std::size_t at = 0; at < text.text.size();) {
    const bool found = !from.empty() && text.text.compare(at, from.size(), from) == 0;
    append_python_text(made.text,
                       found ? std::string_view(to) : std::string_view(text.text).substr(at, 1),
                       text.line);
    at += found ? from.size() : 1;
  }
  return made;
}

std::optional<PythonObject> text_method(const PythonObject& self, std::string_view method,
                                        const PythonArguments& given) {
  const std::string& text = self.text;
  const PythonObject* first = given.find("", 0);
  const bool word = first != nullptr && first->is(ObjectKind::kText) && !first->open();
  if (method == "join" && first != nullptr && first->is(ObjectKind::kList)) {
    return joined_texts(self, *first);
  }
  if (method == "split" && (first == nullptr || word)) {
    return python_split(self, first == nullptr ? "" : first->text);
  }
  if (method == "strip" || method == "lstrip" || method == "rstrip") {
    const std::string what = word ? first->text : " \t\r\n";
    return PythonObject::string(stripped_text(text, what, method != "rstrip", method != "lstrip"),
                                self.line);
  }
  if (method == "replace" && given.unnamed.size() == 2 && word) {
    return replaced_text(self, first->text, python_str(given.unnamed[1]));
  }
  if (self.open()) return std::nullopt;
  if ((method == "startswith" || method == "endswith") && word) {
    return PythonObject::boolean(method == "startswith" ? text.starts_with(first->text)
                                                        : text.ends_with(first->text));
  }
  if (method == "lower" || method == "upper") {
    PythonObject made = self;
    std::ranges::transform(made.text, made.text.begin(), [&](unsigned char c) {
      return static_cast<char>(method == "upper" ? std::toupper(c) : std::tolower(c));
    });
    return made;
  }
  return std::nullopt;
}

void extend_list(PythonObject& self, const PythonObject& more) {
  // Copied first, because a list can be extended by itself.
  const std::vector<PythonObject> added =
      more.is(ObjectKind::kList) ? more.body->items : std::vector<PythonObject>{more};
  for (const PythonObject& item : added) self.body->add(item);
}

std::optional<PythonObject> list_method(PythonObject& self, std::string_view method,
                                        const PythonArguments& given) {
  const PythonObject* first = given.find("", 0);
  if (method == "copy") return call_python_library_function("list", {{self}, {}, given.line});
  if (first == nullptr || self.body->items.size() >= kMaxPythonContainerItems) return std::nullopt;
  if (method == "append") {
    self.body->add(*first);
  } else if (method == "extend") {
    extend_list(self, *first);
  } else if (method == "insert" && first->is(ObjectKind::kInteger) && given.unnamed.size() == 2) {
    const auto size = static_cast<std::int64_t>(self.body->items.size());
    const std::int64_t at =
        std::clamp<std::int64_t>(first->number < 0 ? size + first->number : first->number, 0, size);
    self.body->items.insert(self.body->items.begin() + at, copy_python_value(given.unnamed[1]));
  } else {
    return std::nullopt;
  }
  return PythonObject();
}

PythonObject pair_of(const std::string& key, const PythonObject& value, std::uint32_t line) {
  PythonObject pair = PythonObject::list();
  pair.body->items = {PythonObject::string(key, line), value};
  return pair;
}

std::optional<PythonObject> record_method(PythonObject& self, std::string_view method,
                                          const PythonArguments& given) {
  auto& members = self.body->members;
  const PythonObject* first = given.find("", 0);
  if (!self.body->made_by.empty()) return std::nullopt;
  if (method == "items" || method == "keys" || method == "values") {
    PythonObject all = PythonObject::list();
    for (const auto& [key, value] : members) {
      all.body->items.push_back(method == "items"  ? pair_of(key, value, value.line)
                                : method == "keys" ? PythonObject::string(key, value.line)
                                                   : value);
    }
    return all;
  }
  if (method == "copy") return call_python_library_function("dict", {{self}, {}, given.line});
  if (method == "update") {
    const auto more = call_python_library_function("dict", given);
    if (!more) return std::nullopt;
    for (const auto& [key, value] : more->body->members) self.body->set(key, value);
    return PythonObject();
  }
  if (first == nullptr || first->is(ObjectKind::kUnknown)) return std::nullopt;
  const auto known = python_mapping_key_text(*first);
  if (!known && !first->is(ObjectKind::kText)) return std::nullopt;
  const std::string key = known.value_or(first->text);
  if (method == "get" || method == "pop" || method == "setdefault") {
    if (const PythonObject* found = self.body->find(key)) return *found;
    const PythonObject* other = given.find("default", 1);
    const PythonObject value = other != nullptr ? *other : PythonObject();
    if (method == "setdefault") self.body->set(key, value);
    return value;
  }
  return std::nullopt;
}

PythonObject whole_number(const PythonObject& value, std::uint32_t line) {
  if (value.is(ObjectKind::kInteger)) return value;
  if (value.is(ObjectKind::kBool)) return PythonObject::integer(value.truth ? 1 : 0, line);
  if (value.is(ObjectKind::kUnknown)) return value;
  const auto number = value.is(ObjectKind::kText) ? integer_from_digits(value.text) : std::nullopt;
  return number ? PythonObject::integer(*number, line) : PythonObject::unknown("number", line);
}

PythonObject mapping_of(const PythonArguments& given) {
  PythonObject made = PythonObject::record();
  for (const PythonObject& one : given.unnamed) {
    if (!one.is(ObjectKind::kRecord)) continue;
    for (const auto& [key, value] : one.body->members) made.body->set(key, value);
  }
  for (const auto& [key, value] : given.named) made.body->set(key, value);
  return made;
}

/// Returns a copy of an object with some members replaced; nullopt if it is not an object.
std::optional<PythonObject> replaced(const PythonObject& object, const PythonArguments& given) {
  if (!object.is(ObjectKind::kRecord)) return std::nullopt;
  PythonObject made = copy_python_value(object);
  for (const auto& [name, value] : given.named) {
    if (made.is(ObjectKind::kRecord)) made.body->set(name, value);
  }
  return made;
}

std::optional<PythonObject> of_nothing(std::string_view name, std::uint32_t line) {
  if (name == "dict") return PythonObject::record();
  if (name == "list" || name == "tuple") return PythonObject::list();
  if (name == "os.getcwd") return PythonObject::string(".", line);
  return std::nullopt;
}

/// Returns the default value of a dataclass field, "field(default=4)" or
/// "field(default_factory=list)"; nullopt if it is not known.
std::optional<PythonObject> default_of_field(const PythonArguments& given) {
  for (const auto& [name, value] : given.named) {
    if (name == "default") return value;
    if (name != "default_factory") continue;
    return value.is(ObjectKind::kUnknown) ? of_nothing(value.text, given.line) : value;
  }
  return std::nullopt;
}

PythonObject path_of(const PythonArguments& given) {
  PythonObject path = given.unnamed.front();
  for (std::size_t i = 1; i < given.unnamed.size(); ++i) {
    path = python_operator_result("/", path, given.unnamed[i]);
  }
  return path;
}

PythonObject range_of(const PythonArguments& given) {
  constexpr std::int64_t kLongest = 1'000;
  PythonObject all = PythonObject::list();
  if (given.unnamed.size() > 2) return PythonObject::unknown("range", given.line);
  for (const PythonObject& one : given.unnamed) {
    if (!one.is(ObjectKind::kInteger)) return PythonObject::unknown("range", given.line);
  }
  const std::int64_t begin = given.unnamed.size() == 2 ? given.unnamed[0].number : 0;
  const std::int64_t end = given.unnamed.back().number;
  if (end > kLongest || begin < -kLongest) return PythonObject::unknown("range", given.line);
  for (std::int64_t i = begin; i < end; ++i) {
    all.body->items.push_back(PythonObject::integer(i, given.line));
  }
  return all;
}

/// True if a known value is an instance of a Python class with this name; nullopt if the value or
/// the class is unknown.
std::optional<bool> is_of_class(const PythonObject& value, std::string_view type) {
  static constexpr std::pair<std::string_view, ObjectKind> kClasses[] = {
      {"str", ObjectKind::kText},   {"bool", ObjectKind::kBool}, {"int", ObjectKind::kInteger},
      {"float", ObjectKind::kReal}, {"list", ObjectKind::kList}, {"tuple", ObjectKind::kList},
      {"dict", ObjectKind::kRecord}};
  if (value.is(ObjectKind::kUnknown)) return std::nullopt;
  const auto* const found =
      std::ranges::find(kClasses, type, &std::pair<std::string_view, ObjectKind>::first);
  if (type == "int" && value.is(ObjectKind::kBool)) return true;
  if (found != std::end(kClasses)) return value.is(found->second);
  const bool record = value.is(ObjectKind::kRecord) && !value.body->made_by.empty();
  // The object's class can inherit from the other one.
  if (record && value.body->made_by != type) return std::nullopt;
  return record;
}

/// Evaluates "isinstance(value, str)" or "isinstance(value, (list, tuple))".
std::optional<PythonObject> instance_of(const PythonArguments& given) {
  const PythonObject& types = given.unnamed[1];
  std::vector<PythonObject> all = {types};
  if (types.is(ObjectKind::kList)) all = types.body->items;
  bool open = false;
  for (const PythonObject& type : all) {
    // A class is a name that no file sets.
    const std::string_view named = type.said.empty() ? type.text : type.said;
    const std::size_t begin = named.find_last_of(std::string{'.', kUnknownValueMarkBegin}) + 1;
    const auto is = is_of_class(
        given.unnamed[0], named.substr(begin, named.find(kUnknownValueMarkEnd, begin) - begin));
    if (is && *is) return PythonObject::boolean(true);
    open = open || !is;
  }
  return open ? std::nullopt : std::optional(PythonObject::boolean(false));
}

}  // namespace

std::optional<PythonObject> call_python_builtin_method(PythonObject& self, std::string_view method,
                                                       const PythonArguments& given) {
  if (self.is(ObjectKind::kText)) return text_method(self, method, given);
  if (self.is(ObjectKind::kList)) return list_method(self, method, given);
  if (self.is(ObjectKind::kRecord)) return record_method(self, method, given);
  return std::nullopt;
}

std::optional<PythonObject> call_python_library_function(std::string_view name,
                                                         const PythonArguments& given) {
  if (name == "dict" && !given.unnamed.empty() && !given.unnamed.front().is(ObjectKind::kRecord)) {
    return std::nullopt;
  }
  if (name == "dict") return mapping_of(given);
  if (name == "dataclasses.field") return default_of_field(given);
  if (given.unnamed.empty()) return of_nothing(name, given.line);
  const PythonObject& first = given.unnamed.front();
  if (name == "str") return PythonObject::string(python_str(first), given.line);
  if (name == "copy.deepcopy" || name == "deepcopy" || name == "copy.copy") {
    return copy_python_value(first);
  }
  if (name == "dataclasses.replace" || name == "replace") return replaced(first, given);
  if (name == "int") return whole_number(first, given.line);
  if (name == "float" && !first.is(ObjectKind::kNone)) return first;
  if (name == "bool") {
    const auto truth = python_truth(first);
    return truth ? std::optional(PythonObject::boolean(*truth)) : std::nullopt;
  }
  if (name == "len" && first.is(ObjectKind::kList)) {
    return PythonObject::integer(static_cast<std::int64_t>(first.body->items.size()), given.line);
  }
  if (name == "range") return range_of(given);
  if (name == "isinstance" && given.unnamed.size() == 2) return instance_of(given);
  if ((name == "list" || name == "tuple" || name == "sorted") && first.is(ObjectKind::kList)) {
    PythonObject made = PythonObject::list();
    made.body->items = first.body->items;
    return made;
  }
  if (name == "Path" || name == "pathlib.Path" || name == "os.path.join") return path_of(given);
  return std::nullopt;
}

}  // namespace stepwright::launch_scripts
