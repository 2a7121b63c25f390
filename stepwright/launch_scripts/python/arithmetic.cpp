#include "stepwright/launch_scripts/python/arithmetic.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "stepwright/core/scalar.h"

namespace stepwright::launch_scripts {
namespace {

using ObjectKind = PythonObject::Kind;

/// Computes `a ** b`; true if the result is beyond 2^63.
bool power_overflows(std::int64_t a, std::int64_t b, std::int64_t& result) {
  constexpr std::int64_t kMostFactors = 63;
  result = 1;
  bool over = b < 0 || (b > kMostFactors && (a > 1 || a < -1));
  // For 1, 0 and -1 only the parity of a large exponent matters.
  const std::int64_t factors = b > kMostFactors ? kMostFactors - 1 + b % 2 : b;
  for (std::int64_t i = 0; !over && i < factors; ++i) {
    over = __builtin_mul_overflow(result, a, &result);
  }
  return over;
}

PythonObject whole_result(std::string_view sign, const PythonObject& a, const PythonObject& b,
                          std::uint32_t line) {
  std::int64_t result = 0;
  bool bad = true;
  if (sign == "+") bad = __builtin_add_overflow(a.number, b.number, &result);
  if (sign == "-") bad = __builtin_sub_overflow(a.number, b.number, &result);
  if (sign == "*") bad = __builtin_mul_overflow(a.number, b.number, &result);
  if (sign == "**") bad = power_overflows(a.number, b.number, result);
  if (sign == "//" || sign == "%") {
    bad = b.number <= 0 || a.number < 0;
    if (!bad) result = sign == "//" ? a.number / b.number : a.number % b.number;
  }
  return bad ? PythonObject::unknown("number", line) : PythonObject::integer(result, line);
}

/// Returns the text of "%s %d" % (a, b).
PythonObject percent_formatted(const PythonObject& format, const PythonObject& values) {
  std::vector<PythonObject> given = {values};
  if (values.is(ObjectKind::kList)) given = values.body->items;
  const std::string& text = format.text;
  PythonObject made = PythonObject::string("", format.line);
  std::size_t next = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char kind = text[at] == '%' && at + 1 < text.size() ? text[++at] : '%';
    if (kind == '%') {
      made.text += text[at];
    } else if ((kind == 's' || kind == 'd' || kind == 'i') && next < given.size()) {
      append_python_text(made.text, python_str(given[next++]), format.line);
    } else {
      return PythonObject::unknown("text", format.line);
    }
  }
  return made;
}

/// Returns the items of a list; an unknown value is its own single item.
std::optional<std::vector<PythonObject>> items_of(const PythonObject& value) {
  if (value.is(ObjectKind::kList)) return value.body->items;
  if (value.is(ObjectKind::kUnknown)) return std::vector<PythonObject>{value};
  return std::nullopt;
}

PythonObject list_of(std::vector<PythonObject> items, std::uint32_t line) {
  if (items.size() > kMaxPythonContainerItems) return PythonObject::unknown("list", line);
  PythonObject made = PythonObject::list();
  made.line = line;
  made.body->items = std::move(items);
  return made;
}

/// Returns the list "[a] * 3".
PythonObject repeated(const PythonObject& list, std::int64_t count, std::uint32_t line) {
  const auto most = static_cast<std::int64_t>(kMaxPythonContainerItems / python_value_size(list));
  if (count > most) return PythonObject::unknown("list", line);
  std::vector<PythonObject> items;
  for (std::int64_t i = 0; i < count; ++i) {
    items.insert(items.end(), list.body->items.begin(), list.body->items.end());
  }
  return list_of(std::move(items), line);
}

/// Returns "a" + "b", or "a" / "b" for paths.
PythonObject text_sum(bool path, const PythonObject& a, const PythonObject& b, std::uint32_t line) {
  PythonObject both = PythonObject::string(python_str(a), line);
  if (path && !both.text.ends_with('/')) both.text += '/';
  append_python_text(both.text, python_str(b), line);
  return both;
}

std::optional<double> number_of(const PythonObject& value) {
  if (value.is(ObjectKind::kInteger)) return static_cast<double>(value.number);
  return value.is(ObjectKind::kReal) ? read_double(value.text) : std::nullopt;
}

std::optional<bool> same_value(const PythonObject& a, const PythonObject& b) {
  if (a.open() || b.open()) return std::nullopt;
  const auto left = number_of(a);
  const auto right = number_of(b);
  if (left && right && a.kind != b.kind) return *left == *right;
  if (a.kind != b.kind) return false;
  if (a.is(ObjectKind::kReal)) return left && right ? std::optional(*left == *right) : std::nullopt;
  if (a.is(ObjectKind::kText)) return a.text == b.text;
  if (a.is(ObjectKind::kInteger)) return a.number == b.number;
  if (a.is(ObjectKind::kBool)) return a.truth == b.truth;
  if (a.is(ObjectKind::kNone)) return true;
  return std::nullopt;
}

std::optional<bool> is_held_in(const PythonObject& a, const PythonObject& b) {
  if (b.is(ObjectKind::kText)) {
    if (!a.is(ObjectKind::kText) || a.open() || b.open()) return std::nullopt;
    return b.text.find(a.text) != std::string::npos;
  }
  if (b.is(ObjectKind::kRecord) && b.body->made_by.empty()) {
    const auto key = python_mapping_key_text(a);
    if (!key) return std::nullopt;
    if (b.body->find(*key) != nullptr) return true;
    // The mapping can contain the key if it has keys that are not known.
    const bool known = std::ranges::none_of(b.body->members, [](const auto& member) {
      return member.first.find(kUnknownValueMarkBegin) != std::string::npos || member.first == "**";
    });
    return known ? std::optional(false) : std::nullopt;
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

template <class T>
bool ordered(std::string_view sign, T a, T b) {
  if (sign == "<") return a < b;
  if (sign == "<=") return a <= b;
  return sign == ">" ? a > b : a >= b;
}

}  // namespace

PythonObject python_operator_result(std::string_view sign, const PythonObject& a,
                                    const PythonObject& b) {
  const std::uint32_t line = a.line != 0 ? a.line : b.line;
  const bool wholes = a.is(ObjectKind::kInteger) && b.is(ObjectKind::kInteger);
  if (wholes && sign != "/") return whole_result(sign, a, b, line);
  const bool text = a.is(ObjectKind::kText);
  if (text && sign == "%") return percent_formatted(a, b);
  const bool texts = text || b.is(ObjectKind::kText);
  const bool other = a.is(ObjectKind::kUnknown) || b.is(ObjectKind::kUnknown);
  if (texts && (sign == "+" || sign == "/") && (other || a.kind == b.kind)) {
    return text_sum(sign == "/", a, b, line);
  }
  if (a.is(ObjectKind::kList) && b.is(ObjectKind::kInteger) && sign == "*") {
    return repeated(a, b.number, line);
  }
  const bool lists = a.is(ObjectKind::kList) || b.is(ObjectKind::kList);
  auto left = lists && sign == "+" ? items_of(a) : std::nullopt;
  const auto right = left ? items_of(b) : std::nullopt;
  if (right) {
    left->insert(left->end(), right->begin(), right->end());
    return list_of(std::move(*left), line);
  }
  const PythonObject& open = a.is(ObjectKind::kUnknown) ? a : b;
  return PythonObject::unknown(open.is(ObjectKind::kUnknown) ? open.text : "value", line);
}

PythonObject negated_python_value(PythonObject value) {
  if (value.is(ObjectKind::kInteger)) {
    return python_operator_result("-", PythonObject::integer(0, value.line), value);
  }
  if (value.is(ObjectKind::kReal)) {
    const bool minus = value.text.starts_with('-');
    return PythonObject::real(minus ? value.text.substr(1) : "-" + value.text, value.line);
  }
  return PythonObject::unknown(value.is(ObjectKind::kUnknown) ? value.text : "number", value.line);
}

std::optional<bool> python_comparison_holds(std::string_view sign, const PythonObject& a,
                                            const PythonObject& b) {
  const auto inverse = [](std::optional<bool> one) { return one ? std::optional(!*one) : one; };
  if (sign == "==" || sign == "is") return same_value(a, b);
  if (sign == "!=" || sign == "is not") return inverse(same_value(a, b));
  if (sign == "in") return is_held_in(a, b);
  if (sign == "not in") return inverse(is_held_in(a, b));
  if (a.is(ObjectKind::kInteger) && b.is(ObjectKind::kInteger)) {
    return ordered(sign, a.number, b.number);
  }
  const auto left = number_of(a);
  const auto right = number_of(b);
  return left && right ? std::optional(ordered(sign, *left, *right)) : std::nullopt;
}

}  // namespace stepwright::launch_scripts
