#include "stepwright/launch_scripts/python/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/core/scalar.h"
#include "stepwright/core/trimmed.h"
#include "stepwright/core/utf8.h"
#include "stepwright/launch_scripts/python/arithmetic.h"
#include "stepwright/launch_scripts/python/source.h"
#include "stepwright/launch_scripts/python/statement.h"

namespace stepwright::launch_scripts {
namespace {

using PartKind = PythonNode::Kind;
using ObjectKind = PythonObject::Kind;

constexpr std::size_t kLongestSaid = 400;

/// Returns the position that an index means; a negative index counts from the end.
std::int64_t place_of(const PythonObject& index, std::size_t size) {
  return index.number < 0 ? static_cast<std::int64_t>(size) + index.number : index.number;
}

/// Evaluates the syntax tree of one expression.
class Evaluation {
 public:
  explicit Evaluation(PythonEvaluationScope& names) : names_(names) {}

  /// Returns the value of a node; an unknown value records its line and its text.
  PythonObject value(const PythonNode& node) {
    PythonObject one = followed(node);
    if (one.line == 0) one.line = at(node);
    if (one.open() && one.said.empty()) one.said = std::string(node.text.substr(0, kLongestSaid));
    return one;
  }

 private:
  PythonObject followed(const PythonNode& node) {
    names_.add_python_interpretation_effort(1, node.line);
    switch (node.kind) {
      case PartKind::kConstant:
        return node.word == "None" ? PythonObject() : PythonObject::boolean(node.word == "True");
      case PartKind::kNumber: return number(node);
      case PartKind::kString: return string(node);
      case PartKind::kName: return names_.value(node.word, at(node));
      case PartKind::kList: return list(node);
      case PartKind::kMapping: return mapping(node);
      case PartKind::kComprehension: return comprehension(node);
      case PartKind::kBound: return bound(node);
      case PartKind::kBehind: return behind(node);
      case PartKind::kNegative: return negated_python_value(followed(node.parts.front()));
      case PartKind::kOperation: return operation(node);
      case PartKind::kComparison: return comparison(node);
      case PartKind::kNot: return negated(node);
      case PartKind::kAnd:
      case PartKind::kOr: return joined(node);
      case PartKind::kChoice: return choice(node, 0);
      default: return PythonObject::unknown(node.text, at(node));
    }
  }

  [[nodiscard]] std::uint32_t at(const PythonNode& node) const {
    return names_.recorded_line(node.line);
  }
  PythonObject spent(PythonObject value, const PythonNode& node) {
    names_.add_python_interpretation_effort(python_value_size(value), node.line);
    return value;
  }

  PythonObject number(const PythonNode& node) const {
    const char* const end = node.word.data() + node.word.size();
    std::int64_t value = 0;
    const auto [stop, error] = std::from_chars(node.word.data(), end, value);
    if (error == std::errc() && stop == end) return PythonObject::integer(value, at(node));
    const std::string digits = node.word.ends_with('.') ? node.word + "0" : node.word;
    return is_number(digits) ? PythonObject::real(digits, at(node))
                             : PythonObject::unknown(node.text, at(node));
  }

  PythonObject string(const PythonNode& node) {
    PythonObject made = PythonObject::string("", at(node));
    for (const PythonNode& part : node.parts) {
      names_.add_python_interpretation_effort(part.word.size() / 64, part.line);
      append_python_text(made.text, part.kind == PartKind::kHole ? filled(part) : part.word,
                         at(part));
    }
    return made;
  }

  std::string filled(const PythonNode& hole) {
    const PythonObject one = followed(hole.parts.front());
    const bool plain = hole.word.empty() || hole.word == "d" || hole.word == "s";
    return plain ? python_str(one) : unknown_python_value_text(hole.text);
  }

  /// Adds the items of a list; an unknown value is added as one item.
  static void spread(const PythonObject& more, std::vector<PythonObject>& into) {
    if (more.is(ObjectKind::kList)) {
      into.insert(into.end(), more.body->items.begin(), more.body->items.end());
    } else if (more.is(ObjectKind::kUnknown)) {
      into.push_back(more);
    }
  }

  PythonObject list(const PythonNode& node) {
    PythonObject made = PythonObject::list();
    made.line = at(node);
    std::vector<PythonObject>& items = made.body->items;
    for (const PythonNode& part : node.parts) {
      if (items.size() >= kMaxPythonContainerItems) break;
      if (part.kind == PartKind::kSpread) {
        spread(value(part.parts.front()), items);
      } else if (part.kind != PartKind::kPair) {
        items.push_back(value(part));
      }
    }
    return made;
  }

  PythonObject mapping(const PythonNode& node) {
    PythonObject made = PythonObject::record();
    made.line = at(node);
    for (const PythonNode& part : node.parts) {
      if (part.kind == PartKind::kPair) {
        pair(part, made);
      } else {
        const PythonObject more = value(part.parts.front());
        if (more.is(ObjectKind::kRecord)) {
          for (const auto& [key, one] : more.body->members) made.body->set(key, one);
        } else {
          made.body->set("**", more);
        }
      }
    }
    return made;
  }

  void pair(const PythonNode& node, PythonObject& into) {
    const PythonObject key = followed(node.parts.front());
    const PythonObject one = value(node.parts.back());
    if (key.is(ObjectKind::kUnknown)) return;
    into.body->set(python_mapping_key_text(key).value_or(python_str(key)), one);
  }

  PythonObject bound(const PythonNode& node) {
    PythonObject one = value(node.parts.front());
    names_.bind(node.word, one);
    return one;
  }

  /// Evaluates "[f(x) for x in list if g(x)]".
  PythonObject comprehension(const PythonNode& node) {
    const bool pairs = node.parts.front().kind == PartKind::kPair;
    PythonObject made = pairs ? PythonObject::record() : PythonObject::list();
    made.line = at(node);
    std::string open;
    clause(node, 1, made, open);
    if (open.empty()) return made;
    return PythonObject::unknown(open, at(node));
  }

  /// Evaluates the clauses of a comprehension from number `number` on; `open` receives the name of
  /// the unknown value that decides them, if there is one.
  void clause(const PythonNode& node, std::size_t number, PythonObject& made, std::string& open) {
    if (number == node.parts.size()) return element(node.parts.front(), made);
    const PythonNode& part = node.parts[number];
    const PythonObject from = followed(part.parts.front());
    if (part.kind == PartKind::kFilter) {
      const auto kept = python_truth(from);
      if (!kept) open = "part";
      if (kept.value_or(true)) clause(node, number + 1, made, open);
      return;
    }
    const auto items = python_loop_items(from);
    if (!items) open = from.is(ObjectKind::kUnknown) ? from.text : "part";
    for (std::size_t i = 0; items && i < items->size() && open.empty(); ++i) {
      assign_python_targets(part.word, (*items)[i], names_);
      clause(node, number + 1, made, open);
    }
  }

  void element(const PythonNode& node, PythonObject& made) {
    names_.add_python_interpretation_effort(1 + node.text.size() / 64, node.line);
    if (node.kind == PartKind::kPair) return pair(node, made);
    PythonObject one = value(node);
    if (made.body->items.size() < kMaxPythonContainerItems)
      made.body->items.push_back(std::move(one));
  }

  /// Evaluates the indices, attributes and calls after a value.
  PythonObject behind(const PythonNode& node) {
    const PythonNode& base = node.parts.front();
    std::size_t next = 1;
    const bool call = base.kind == PartKind::kName && node.parts[1].kind == PartKind::kArguments;
    PythonObject value = call ? called(base, node.parts[next++]) : followed(base);
    for (; next < node.parts.size(); ++next) {
      const PythonNode& part = node.parts[next];
      if (part.kind == PartKind::kArguments) {
        arguments(part);
        value = PythonObject::unknown("value", at(part));
      } else if (part.kind == PartKind::kIndex) {
        value = indexed(value, part);
      } else if (part.kind == PartKind::kSlice) {
        value = sliced(value, part);
      } else if (next + 1 < node.parts.size() &&
                 node.parts[next + 1].kind == PartKind::kArguments) {
        value =
            spent(names_.call_python_method(value, part.word, arguments(node.parts[++next])), part);
      } else {
        PythonObject found = python_attribute(value, part.word, at(part));
        value = std::move(found);
      }
    }
    return value;
  }

  PythonObject called(const PythonNode& name, const PythonNode& with) {
    PythonArguments given = arguments(with);
    given.line = at(name);
    PythonObject result = spent(names_.call(name.word, given), name);
    if (given.line != 0) result.line = given.line;
    return result;
  }

  PythonArguments arguments(const PythonNode& node) {
    PythonArguments given;
    given.line = at(node);
    for (const PythonNode& part : node.parts) argument(part, given);
    std::size_t weight = 1;
    for (const PythonObject& one : given.unnamed) weight += python_value_size(one);
    for (const auto& [name, one] : given.named) weight += python_value_size(one);
    names_.add_python_interpretation_effort(weight, node.line);
    return given;
  }

  void argument(const PythonNode& node, PythonArguments& given) {
    switch (node.kind) {
      case PartKind::kSpread: return spread(value(node.parts.front()), given.unnamed);
      case PartKind::kSpreadMapping: return spread_mapping(value(node.parts.front()), given);
      case PartKind::kKeyword:
        if (given.find(node.word, ~std::size_t{0}) != nullptr) {
          fail_input(fmt::format("{}:{}: '{}' is given twice", names_.file(), node.line,
                                 one_line_printable_text(node.word)));
        }
        given.named.emplace_back(node.word, value(node.parts.front()));
        return;
      default: given.unnamed.push_back(value(node));
    }
  }

  void spread_mapping(const PythonObject& more, PythonArguments& given) {
    if (more.is(ObjectKind::kRecord)) {
      given.named.insert(given.named.end(), more.body->members.begin(), more.body->members.end());
    } else {
      given.named.emplace_back("**", more);
    }
  }

  PythonObject indexed(const PythonObject& value, const PythonNode& node) {
    const PythonObject index = followed(node.parts.front());
    const bool record = value.is(ObjectKind::kRecord);
    if (record && index.is(ObjectKind::kText)) {
      return python_attribute(value, index.text, at(node));
    }
    if (value.is(ObjectKind::kList) && index.is(ObjectKind::kInteger)) {
      const auto& items = value.body->items;
      const std::int64_t place = place_of(index, items.size());
      if (place >= 0 && place < static_cast<std::int64_t>(items.size())) {
        return items[static_cast<std::size_t>(place)];
      }
    }
    const bool whole = index.is(ObjectKind::kInteger) || index.is(ObjectKind::kList);
    if (const auto key = record && whole ? python_mapping_key_text(index) : std::nullopt) {
      if (const PythonObject* found = value.body->find(*key))
        return python_record_of_attributes(*found);
    }
    // An item of a known mapping under an unknown key is named after the key.
    const bool by_key = record && index.is(ObjectKind::kUnknown) && !index.text.empty();
    const bool below = value.is(ObjectKind::kUnknown) && value.number != 0;
    const bool named = index.is(ObjectKind::kText) && !below;
    PythonObject open = PythonObject::unknown(by_key || named ? index.text : value.text, at(node));
    open.number = by_key || below ? 1 : 0;
    return open;
  }

  PythonObject sliced(const PythonObject& value, const PythonNode& node) {
    const bool unknown = value.is(ObjectKind::kUnknown);
    PythonObject open = PythonObject::unknown(unknown ? value.text : "part", at(node));
    const PythonObject bounds[] = {followed(node.parts.front()), followed(node.parts.back())};
    if (!value.is(ObjectKind::kList)) return open;
    const std::vector<PythonObject>& items = value.body->items;
    const auto size = static_cast<std::int64_t>(items.size());
    std::int64_t places[] = {0, size};
    for (std::size_t i = 0; i < 2; ++i) {
      if (bounds[i].is(ObjectKind::kNone)) continue;
      if (!bounds[i].is(ObjectKind::kInteger)) return open;
      places[i] = std::clamp<std::int64_t>(place_of(bounds[i], items.size()), 0, size);
    }
    PythonObject part = PythonObject::list();
    if (places[0] < places[1]) {
      part.body->items.assign(items.begin() + places[0], items.begin() + places[1]);
    }
    return spent(part, node);
  }

  PythonObject operation(const PythonNode& node) {
    PythonObject left = followed(node.parts.front());
    for (std::size_t i = 1; i < node.parts.size(); ++i) {
      const PythonObject right = followed(node.parts[i]);
      left = spent(python_operator_result(node.parts[i].sign, left, right), node);
    }
    return left;
  }

  PythonObject comparison(const PythonNode& node) {
    PythonObject left = followed(node.parts.front());
    std::optional<bool> all = true;
    for (std::size_t i = 1; i < node.parts.size(); ++i) {
      PythonObject right = followed(node.parts[i]);
      const auto holds = python_comparison_holds(node.parts[i].sign, left, right);
      if (all.value_or(false) || !holds.value_or(true)) all = holds;
      const bool first = left.is(ObjectKind::kUnknown) || right.is(ObjectKind::kInteger);
      const PythonObject& open = first ? left : right;
      if (open.open()) open_ = python_str(open);
      left = std::move(right);
    }
    return all ? PythonObject::boolean(*all) : PythonObject::unknown(open_, at(node));
  }

  PythonObject negated(const PythonNode& node) {
    const PythonObject value = followed(node.parts.front());
    const auto truth = python_truth(value);
    return truth ? PythonObject::boolean(!*truth)
                 : PythonObject::unknown(python_str(value), at(node));
  }

  PythonObject joined(const PythonNode& node) {
    const bool any = node.kind == PartKind::kOr;
    PythonObject left = value(node.parts.front());
    for (std::size_t i = 1; i < node.parts.size(); ++i) {
      const auto truth = python_truth(left);
      if (truth == any) break;
      PythonObject right = value(node.parts[i]);
      const bool boolean = right.is(ObjectKind::kBool);
      if (truth || (boolean && right.truth == any)) {
        left = std::move(right);
      } else {
        left = PythonObject::unknown(left.text, at(node));
      }
    }
    return left;
  }

  /// Evaluates "a if b else c", starting at a part of the node.
  PythonObject choice(const PythonNode& node, std::size_t part) {
    const PythonNode& yes = node.parts[part];
    if (part + 1 == node.parts.size()) return value(yes);
    const PythonNode& condition = node.parts[part + 1];
    const auto truth = python_truth(followed(condition));
    if (truth) return *truth ? value(yes) : choice(node, part + 2);
    return either(value(yes), choice(node, part + 2), condition);
  }

  /// Returns one of two values if they are equal, else an unknown value named after the condition.
  PythonObject either(const PythonObject& yes, const PythonObject& no,
                      const PythonNode& condition) {
    if (python_comparison_holds("==", yes, no).value_or(false)) return yes;
    return PythonObject::unknown(condition.text, at(condition));
  }

  PythonEvaluationScope& names_;
  std::string open_ = "value";  ///< The unknown expression that decides the last comparison.
};

}  // namespace

PythonObject evaluate_python_expression(const PythonNode& expression,
                                        PythonEvaluationScope& names) {
  return Evaluation(names).value(expression);
}

void assign_python_targets(std::string_view targets, const PythonObject& value,
                           PythonEvaluationScope& names, int depth) {
  constexpr int kDeepestTargets = 20;
  targets = trimmed(targets);
  if ((targets.starts_with('(') || targets.starts_with('[')) &&
      closing_python_bracket_position(targets, 0) + 1 == targets.size()) {
    targets = targets.substr(1, targets.size() - 2);
  }
  if (find_python_operator(targets, ",") == std::string_view::npos) {
    if (is_dotted_python_name(targets)) names.bind(std::string(targets), value);
    return;
  }
  for (std::size_t i = 0; !targets.empty() && depth < kDeepestTargets; ++i) {
    const std::size_t comma = end_of_python_item(targets, 0, ",");
    const std::string_view name = trimmed(targets.substr(0, comma));
    targets.remove_prefix(std::min(comma + 1, targets.size()));
    const bool known = value.is(ObjectKind::kList) && i < value.body->items.size();
    PythonObject part = known ? value.body->items[i] : PythonObject::unknown(name, value.line);
    if (!known) part.said = value.said;
    assign_python_targets(name, part, names, depth + 1);
  }
}

}  // namespace stepwright::launch_scripts
