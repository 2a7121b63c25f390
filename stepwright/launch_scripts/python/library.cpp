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

/// A text without blanks, or without other characters, at its ends.
PythonString stripped_text(const PythonString& text, std::string_view what, bool left, bool right) {
  std::size_t begin = 0;
  std::size_t end = text.text.size();
  while (left && begin < end && what.find(text.text[begin]) != std::string_view::npos) ++begin;
  while (right && end > begin && what.find(text.text[end - 1]) != std::string_view::npos) --end;
  return text.part(begin, end - begin);
}

/// Words of a text as `split()` (no separator) or `shlex.split` makes them.
PythonObject python_split(const PythonString& text, std::string_view separator, bool quotes) {
  PythonObject words = PythonObject::list();
  PythonString word;
  bool begun = false;
  const auto end_word = [&](bool keep) {
    if (keep && words.body->items.size() < kMostPythonItems) {
      words.body->items.push_back(PythonObject::string(word));
    }
    word = {};
    begun = false;
  };
  char quote = '\0';
  for (std::size_t at = 0; at < text.text.size(); ++at) {
    const char c = text.text[at];
    const bool blank = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (quotes && quote == '\0' && (c == '"' || c == '\'')) {
      quote = c;
      begun = true;
    } else if (quote != '\0' && c == quote) {
      quote = '\0';
    } else if (quotes && quote != '\'' && c == '\\' && at + 1 < text.text.size()) {
      word.add(text.part(++at, 1));
      begun = true;
    } else if (quote == '\0' && separator.empty() && blank) {
      if (begun) end_word(true);
    } else if (!separator.empty() && text.text.substr(at).starts_with(separator)) {
      end_word(true);
      at += separator.size() - 1;
    } else {
      word.add(text.part(at, 1));
      begun = true;
    }
  }
  end_word(begun || !separator.empty());
  return words;
}

PythonString joined_texts(const PythonString& between, const PythonObject& list) {
  PythonString all;
  bool first = true;
  for (const PythonObject& item : list.body->items) {
    PythonString one = python_str(item);
    if (!first) {
      PythonString gap = between;
      std::ranges::fill(gap.lines, one.lines.empty() ? item.line : one.lines.front());
      all.add(gap);
    }
    all.add(one);
    first = false;
  }
  return all;
}

/// "{} {name} {0}".format(...).
std::optional<PythonObject> brace_formatted(const PythonString& format,
                                            const PythonArguments& given) {
  PythonString made;
  std::size_t next = 0;
  for (std::size_t at = 0; at < format.text.size(); ++at) {
    const char c = format.text[at];
    const bool twice = at + 1 < format.text.size() && format.text[at + 1] == c;
    if ((c == '{' || c == '}') && twice) {
      made.add(format.part(at++, 1));
      continue;
    }
    if (c != '{') {
      made.add(format.part(at, 1));
      continue;
    }
    const std::size_t end = format.text.find('}', at);
    if (end == std::string::npos) return std::nullopt;
    const std::string name = format.text.substr(at + 1, end - at - 1);
    const bool number = !name.empty() && name.size() < 3 &&
                        name.find_first_not_of("0123456789") == std::string::npos;
    const std::size_t place = name.empty() ? next++ : number ? std::stoul(name) : ~std::size_t{0};
    const PythonObject* value = given.find(name, place);
    made.add(value != nullptr ? python_str(*value)
                              : python_hole(name.empty() ? "value" : name, given.line));
    at = end;
  }
  return PythonObject::string(made);
}

PythonString replaced_text(const PythonString& text, const std::string& from,
                           const PythonString& to) {
  PythonString made;
  for (std::size_t at = 0; at < text.text.size();) {
    if (!from.empty() && text.text.compare(at, from.size(), from) == 0) {
      made.add(to);
      at += from.size();
    } else {
      made.add(text.part(at++, 1));
    }
  }
  return made;
}

std::optional<PythonObject> text_method(const PythonObject& self, std::string_view method,
                                        const PythonArguments& given) {
  const PythonString& text = self.text;
  const PythonObject* first = given.find("", 0);
  const bool word = first != nullptr && first->is(ObjectKind::kText) && !first->text.open();
  if (method == "format") return brace_formatted(text, given);
  if (method == "join" && first != nullptr && first->is(ObjectKind::kList)) {
    return PythonObject::string(joined_texts(text, *first));
  }
  if (method == "split" && (first == nullptr || word)) {
    return python_split(text, first == nullptr ? "" : first->text.text, false);
  }
  if (method == "strip" || method == "lstrip" || method == "rstrip") {
    const std::string what = word ? first->text.text : " \t\r\n";
    return PythonObject::string(stripped_text(text, what, method != "rstrip", method != "lstrip"));
  }
  if (method == "replace" && given.unnamed.size() == 2 && word) {
    return PythonObject::string(
        replaced_text(text, first->text.text, python_str(given.unnamed[1])));
  }
  if (text.open()) return std::nullopt;
  if ((method == "startswith" || method == "endswith") && word) {
    return PythonObject::boolean(method == "startswith" ? text.text.starts_with(first->text.text)
                                                        : text.text.ends_with(first->text.text));
  }
  if (method == "lower" || method == "upper") {
    PythonObject made = self;
    std::ranges::transform(made.text.text, made.text.text.begin(), [&](unsigned char c) {
      return static_cast<char>(method == "upper" ? std::toupper(c) : std::tolower(c));
    });
    return made;
  }
  if (method == "resolve" || method == "absolute" || method == "expanduser" ||
      method == "as_posix") {
    return self;
  }
  return std::nullopt;
}

void extend_list(PythonObject& self, PythonObject more) {
  more.truth = true;
  // Of itself, too.
  const std::vector<PythonObject> added =
      more.is(ObjectKind::kList) ? more.body->items : std::vector<PythonObject>{more};
  for (const PythonObject& item : added) self.body->add(item);
}

std::optional<PythonObject> list_method(PythonObject& self, std::string_view method,
                                        const PythonArguments& given) {
  const PythonObject* first = given.find("", 0);
  if (method == "copy") return python_library("list", {{self}, {}, given.line});
  if (first == nullptr || self.body->items.size() >= kMostPythonItems) return std::nullopt;
  if (method == "append") {
    self.body->add(*first);
  } else if (method == "extend") {
    extend_list(self, *first);
  } else if (method == "insert" && first->is(ObjectKind::kInteger) && given.unnamed.size() == 2) {
    const auto size = static_cast<std::int64_t>(self.body->items.size());
    const std::int64_t at =
        std::clamp<std::int64_t>(first->number < 0 ? size + first->number : first->number, 0, size);
    self.body->items.insert(self.body->items.begin() + at, python_copy(given.unnamed[1]));
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
  if (!self.body->made_by.empty() && self.body->made_by != "environ") return std::nullopt;
  if (method == "items" || method == "keys" || method == "values") {
    PythonObject all = PythonObject::list();
    for (const auto& [key, value] : members) {
      all.body->items.push_back(method == "items"  ? pair_of(key, value, value.line)
                                : method == "keys" ? PythonObject::string(key, value.line)
                                                   : value);
    }
    return all;
  }
  if (method == "copy") return python_library("dict", {{self}, {}, given.line});
  if (method == "update") {
    const auto more = python_library("dict", given);
    if (!more) return std::nullopt;
    for (const auto& [key, value] : more->body->members) self.body->set(key, value);
    return PythonObject();
  }
  if (first == nullptr || first->is(ObjectKind::kUnknown)) return std::nullopt;
  const auto known = python_key(*first);
  if (!known && !first->is(ObjectKind::kText)) return std::nullopt;
  const std::string key = known.value_or(first->text.text);
  if (method == "get" || method == "pop" || method == "setdefault") {
    if (const PythonObject* found = self.body->find(key)) return *found;
    const PythonObject* other = given.find("default", 1);
    const bool environment = self.body->made_by == "environ";
    PythonObject value = other != nullptr ? *other
                         : environment    ? PythonObject::unknown(key, given.line)
                                          : PythonObject();
    if (method == "setdefault") self.body->set(key, value);
    return value;
  }
  return std::nullopt;
}

PythonObject whole_number(const PythonObject& value, std::uint32_t line) {
  if (value.is(ObjectKind::kInteger)) return value;
  if (value.is(ObjectKind::kBool)) return PythonObject::integer(value.truth ? 1 : 0, line);
  if (value.is(ObjectKind::kUnknown)) return value;
  const auto number =
      value.is(ObjectKind::kText) ? number_in_digits(value.text.text) : std::nullopt;
  return number ? PythonObject::integer(*number, line) : PythonObject::unknown("number", line);
}

PythonObject mapping_of(const PythonArguments& given) {
  PythonObject made = PythonObject::record();
  for (const PythonObject& one : given.unnamed) {
    if (!one.is(ObjectKind::kRecord)) continue;
    for (const auto& [key, value] : one.body->members) made.body->set(key, value);
    if (one.body->made_by == "environ") made.body->made_by = "environ";
  }
  for (const auto& [key, value] : given.named) made.body->set(key, value);
  return made;
}

/// A copy of an object with other values in it.
std::optional<PythonObject> replaced(const PythonObject& object, const PythonArguments& given) {
  if (!object.is(ObjectKind::kRecord)) return std::nullopt;
  PythonObject made = python_copy(object);
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

PythonObject path_of(const PythonArguments& given) {
  PythonObject path = given.unnamed.front();
  for (std::size_t i = 1; i < given.unnamed.size(); ++i) {
    path = python_operation("/", path, given.unnamed[i]);
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

/// Whether a known value is of a class of Python that a name stands for; nothing where either is
/// open.
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
  if (record && value.body->made_by != type) return std::nullopt;  // It may inherit from it.
  return record;
}

/// "isinstance(value, str)", "isinstance(value, (list, tuple))".
std::optional<PythonObject> instance_of(const PythonArguments& given) {
  const PythonObject& types = given.unnamed[1];
  std::vector<PythonObject> all = {types};
  if (types.is(ObjectKind::kList)) all = types.body->items;
  bool open = false;
  for (const PythonObject& type : all) {
    // A name that no file gives a value.
    const std::string_view named = type.said.empty() ? type.text.text : type.said;
    const std::size_t begin = named.find_last_of(std::string{'.', kHoleBegin}) + 1;
    const auto is =
        is_of_class(given.unnamed[0], named.substr(begin, named.find(kHoleEnd, begin) - begin));
    if (is && *is) return PythonObject::boolean(true);
    open = open || !is;
  }
  return open ? std::nullopt : std::optional(PythonObject::boolean(false));
}

}  // namespace

std::optional<PythonObject> python_object_method(PythonObject& self, std::string_view method,
                                                 const PythonArguments& given) {
  if (self.is(ObjectKind::kText)) return text_method(self, method, given);
  if (self.is(ObjectKind::kList)) return list_method(self, method, given);
  if (self.is(ObjectKind::kRecord)) return record_method(self, method, given);
  return std::nullopt;
}

std::optional<PythonObject> python_library(std::string_view name, const PythonArguments& given) {
  if (name == "dict" && !given.unnamed.empty() && !given.unnamed.front().is(ObjectKind::kRecord)) {
    return std::nullopt;
  }
  if (name == "dict") return mapping_of(given);
  if (given.unnamed.empty()) return of_nothing(name, given.line);
  const PythonObject& first = given.unnamed.front();
  if (name == "str" || name == "os.fspath") return PythonObject::string(python_str(first));
  if (name == "copy.deepcopy" || name == "deepcopy" || name == "copy.copy") {
    return python_copy(first);
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
  if (name == "shlex.split" && first.is(ObjectKind::kText))
    return python_split(first.text, "", true);
  if (name == "shlex.quote") return first;
  if (name == "shlex.join" && first.is(ObjectKind::kList)) {
    return PythonObject::string(joined_texts({" ", given.line}, first));
  }
  if (name == "textwrap.dedent" || name == "os.path.abspath" || name == "os.path.expanduser" ||
      name == "os.path.realpath" || name == "os.path.normpath" || name == "os.path.expandvars") {
    return first;
  }
  if (name == "Path" || name == "pathlib.Path" || name == "os.path.join") return path_of(given);
  return std::nullopt;
}

}  // namespace stepwright::launch_scripts
