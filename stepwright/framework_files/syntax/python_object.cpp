#include "stepwright/framework_files/syntax/python_object.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "stepwright/core/error.h"

namespace stepwright {
namespace {

using ObjectKind = PythonObject::Kind;

/// Bytes of one text, and items of one list.
constexpr std::size_t kLongestPythonText = std::size_t{1} << 18;
constexpr std::size_t kMostObjects = 10'000;

PythonObject joined_lists(const PythonObject& a, const PythonObject& b) {
  PythonObject both = PythonObject::list();
  both.body->items = a.body->items;
  both.body->items.insert(both.body->items.end(), b.body->items.begin(), b.body->items.end());
  return both.body->items.size() > kMostObjects ? PythonObject::unknown("list", a.line) : both;
}

PythonObject whole_result(char sign, std::int64_t a, std::int64_t b, std::uint32_t line) {
  std::int64_t result = 0;
  bool bad = false;
  if (sign == '+') bad = __builtin_add_overflow(a, b, &result);
  if (sign == '-') bad = __builtin_sub_overflow(a, b, &result);
  if (sign == '*') bad = __builtin_mul_overflow(a, b, &result);
  if (sign == '/' || sign == '%') {
    bad = b <= 0 || a < 0;
    if (!bad) result = sign == '/' ? a / b : a % b;
  }
  return bad ? PythonObject::unknown("number", line) : PythonObject::integer(result, line);
}

/// "%s %d" % (a, b).
PythonObject percent_formatted(const PythonString& format, const PythonObject& values) {
  std::vector<PythonObject> given = {values};
  if (values.is(ObjectKind::kList)) given = values.body->items;
  PythonString made;
  std::size_t next = 0;
  for (std::size_t at = 0; at < format.text.size(); ++at) {
    if (format.text[at] != '%' || at + 1 == format.text.size()) {
      made.add(format.part(at, 1));
      continue;
    }
    const char kind = format.text[++at];
    if (kind == '%') {
      made.add(format.part(at, 1));
    } else if ((kind == 's' || kind == 'd' || kind == 'i') && next < given.size()) {
      made.add(python_str(given[next++]));
    } else {
      return PythonObject::unknown("text", format.lines[at]);
    }
  }
  return PythonObject::string(made);
}

std::optional<bool> same_value(const PythonObject& a, const PythonObject& b) {
  if (a.is(ObjectKind::kUnknown) || b.is(ObjectKind::kUnknown)) return std::nullopt;
  if (a.text.open() || b.text.open()) return std::nullopt;
  if (a.kind != b.kind) return false;
  if (a.is(ObjectKind::kText)) return a.text.text == b.text.text;
  if (a.is(ObjectKind::kInteger)) return a.number == b.number;
  if (a.is(ObjectKind::kBool)) return a.truth == b.truth;
  if (a.is(ObjectKind::kNone)) return true;
  return std::nullopt;
}

std::optional<bool> is_held_in(const PythonObject& a, const PythonObject& b) {
  if (b.is(ObjectKind::kText)) {
    if (!a.is(ObjectKind::kText) || a.text.open() || b.text.open()) return std::nullopt;
    return b.text.text.find(a.text.text) != std::string::npos;
  }
  if (b.is(ObjectKind::kRecord) && b.body->made_by.empty() && a.is(ObjectKind::kText)) {
    return b.body->find(a.text.text) != nullptr;
  }
  if (!b.is(ObjectKind::kList)) return std::nullopt;
  bool open = false;
  for (const PythonObject& item : b.body->items) {
    const auto equal = same_value(a, item);
    if (equal.value_or(false)) return true;
    open = open || !equal;
  }
  return open ? std::nullopt : std::optional(false);
}

}  // namespace

void PythonString::add(const PythonString& more) {
  if (text.size() + more.text.size() > kLongestPythonText) {
    fail_input(fmt::format("a text in line {} is longer than 256 KiB",
                           more.lines.empty() ? 0 : more.lines.front()));
  }
  text += more.text;
  lines.insert(lines.end(), more.lines.begin(), more.lines.end());
}

PythonString PythonString::part(std::size_t at, std::size_t count) const {
  PythonString cut;
  at = std::min(at, text.size());
  count = std::min(count, text.size() - at);
  cut.text = text.substr(at, count);
  const auto first = lines.begin() + static_cast<std::ptrdiff_t>(at);
  cut.lines.assign(first, first + static_cast<std::ptrdiff_t>(count));
  return cut;
}

bool PythonString::open() const { return text.find(kHoleBegin) != std::string::npos; }

PythonString python_hole(std::string_view name, std::uint32_t line) {
  return {fmt::format("{}{}{}", kHoleBegin, python_hole_name(name), kHoleEnd), line};
}

std::string python_hole_name(std::string_view expression) {
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

PythonObject PythonObject::unknown(std::string_view name, std::uint32_t line) {
  PythonObject one;
  one.kind = ObjectKind::kUnknown;
  one.text = PythonString(python_hole_name(name), line);
  one.line = line;
  return one;
}

PythonObject PythonObject::string(PythonString text) {
  PythonObject one;
  one.kind = ObjectKind::kText;
  one.line = text.lines.empty() ? 0 : text.lines.front();
  one.text = std::move(text);
  return one;
}

PythonObject PythonObject::string(std::string_view text, std::uint32_t line) {
  PythonObject one = string(PythonString(text, line));
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
  for (auto& [key, value] : members) {
    if (key == name) return &value;
  }
  return nullptr;
}

void PythonObject::Body::set(const std::string& name, const PythonObject& value) {
  if (PythonObject* old = find(name)) {
    *old = python_copy(value);
  } else if (members.size() < kMostObjects) {
    members.emplace_back(name, python_copy(value));
  }
}

std::size_t python_weight(const PythonObject& value) {
  std::size_t weight = 0;
  std::vector<const PythonObject*> open = {&value};
  while (!open.empty() && weight <= kMostObjects) {
    const PythonObject* one = open.back();
    open.pop_back();
    weight += 1 + one->text.text.size() / 64;
    if (one->body == nullptr) continue;
    for (const PythonObject& item : one->body->items) open.push_back(&item);
    for (const auto& [key, member] : one->body->members) open.push_back(&member);
  }
  return weight;
}

PythonObject python_copy(const PythonObject& value) {
  if (value.body == nullptr) return value;
  if (python_weight(value) > kMostObjects) return PythonObject::unknown("value", value.line);
  PythonObject made = value;
  made.body = std::make_shared<PythonObject::Body>();
  made.body->made_by = value.body->made_by;
  for (const PythonObject& item : value.body->items) made.body->items.push_back(python_copy(item));
  for (const auto& [key, member] : value.body->members) {
    made.body->members.emplace_back(key, python_copy(member));
  }
  return made;
}

PythonString python_str(const PythonObject& value) {
  switch (value.kind) {
    case ObjectKind::kText: return value.text;
    case ObjectKind::kInteger: return {fmt::to_string(value.number), value.line};
    case ObjectKind::kBool: return {value.truth ? "True" : "False", value.line};
    case ObjectKind::kNone:
      // One that a person gives, as an argument without a default.
      if (!value.text.text.empty()) return python_hole(value.text.text, value.line);
      return {"None", value.line};
    case ObjectKind::kUnknown: return python_hole(value.text.text, value.line);
    case ObjectKind::kList:
    case ObjectKind::kRecord: break;
  }
  return python_hole("value", value.line);
}

std::optional<bool> python_truth(const PythonObject& value) {
  switch (value.kind) {
    case ObjectKind::kNone:
      if (!value.text.text.empty()) break;
      return false;
    case ObjectKind::kBool: return value.truth;
    case ObjectKind::kInteger: return value.number != 0;
    case ObjectKind::kText:
      if (value.text.text.starts_with(kHoleBegin) && value.text.text.ends_with(kHoleEnd)) break;
      return !value.text.text.empty();
    case ObjectKind::kList: return !value.body->items.empty();
    case ObjectKind::kRecord: return !value.body->members.empty() || !value.body->made_by.empty();
    case ObjectKind::kUnknown: break;
  }
  return std::nullopt;
}

PythonObject python_operation(std::string_view sign, const PythonObject& a, const PythonObject& b) {
  const std::uint32_t line = a.line != 0 ? a.line : b.line;
  const char op = sign.front();
  if (a.is(ObjectKind::kInteger) && b.is(ObjectKind::kInteger) && sign != "/") {
    return whole_result(op, a.number, b.number, line);
  }
  if (a.is(ObjectKind::kText) && op == '%') return percent_formatted(a.text, b);
  const bool texts = a.is(ObjectKind::kText) || b.is(ObjectKind::kText);
  const bool other = a.is(ObjectKind::kUnknown) || b.is(ObjectKind::kUnknown);
  if (texts && (op == '+' || sign == "/") && (other || a.kind == b.kind)) {
    PythonString both = python_str(a);
    if (op == '/' && !both.text.ends_with('/')) both.add({"/", line});
    both.add(python_str(b));
    return PythonObject::string(both);
  }
  if (a.is(ObjectKind::kList) && b.is(ObjectKind::kList) && op == '+') return joined_lists(a, b);
  if (a.is(ObjectKind::kList) && b.is(ObjectKind::kUnknown) && op == '+') {
    PythonObject rest = PythonObject::list();
    rest.body->items.push_back(b);
    return joined_lists(a, rest);
  }
  if (b.is(ObjectKind::kList) && a.is(ObjectKind::kUnknown) && op == '+') {
    PythonObject rest = PythonObject::list();
    rest.body->items.push_back(a);
    return joined_lists(rest, b);
  }
  const PythonObject& open = a.is(ObjectKind::kUnknown) ? a : b;
  return PythonObject::unknown(open.is(ObjectKind::kUnknown) ? open.text.text : "value", line);
}

std::optional<bool> python_comparison(std::string_view sign, const PythonObject& a,
                                      const PythonObject& b) {
  const auto inverse = [](std::optional<bool> one) { return one ? std::optional(!*one) : one; };
  if (sign == "==" || sign == "is") return same_value(a, b);
  if (sign == "!=" || sign == "is not") return inverse(same_value(a, b));
  if (sign == "in") return is_held_in(a, b);
  if (sign == "not in") return inverse(is_held_in(a, b));
  if (!a.is(ObjectKind::kInteger) || !b.is(ObjectKind::kInteger)) return std::nullopt;
  if (sign == "<") return a.number < b.number;
  if (sign == "<=") return a.number <= b.number;
  return sign == ">" ? a.number > b.number : a.number >= b.number;
}

PythonObject python_split(const PythonString& text, std::string_view separator, bool quotes) {
  PythonObject words = PythonObject::list();
  PythonString word;
  bool begun = false;
  const auto end_word = [&](bool keep) {
    if (keep && words.body->items.size() < kMostObjects) {
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

const PythonObject* PythonArguments::find(std::string_view name, std::size_t place) const {
  for (const auto& [key, value] : named) {
    if (key == name) return &value;
  }
  return place < unnamed.size() ? &unnamed[place] : nullptr;
}

}  // namespace stepwright
