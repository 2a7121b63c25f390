#include "stepwright/framework_files/syntax/python_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/syntax/python_arithmetic.h"
#include "stepwright/framework_files/syntax/python_call.h"
#include "stepwright/framework_files/syntax/python_frame.h"
#include "stepwright/framework_files/syntax/python_source.h"
#include "stepwright/framework_files/syntax/python_statement.h"
#include "stepwright/framework_files/syntax/python_value.h"

namespace stepwright {
namespace {

constexpr std::size_t kMostValues = 1'000'000;
constexpr std::size_t kDeepestCall = 32;
constexpr std::size_t kMostAssignments = 10'000;  ///< That are followed.
constexpr std::size_t kMostUnread = 1000;
constexpr int kDeepestChoice = 12;            ///< Of conditions within each other.
constexpr std::size_t kMostChoices = 20'000;  ///< That are looked at.
constexpr std::size_t kLongestChoice = 2000;  ///< Characters of one.
constexpr std::size_t kMostNamed = 40;

using Lines = std::span<const PythonLine>;

void leave_places(Tree& tree) {
  tree.line = 0;
  for (Tree& item : tree.items) leave_places(item);
}

/// Follows the statements of a text.
class Interpreter {
 public:
  /// `others`: those of the other texts, which may be filled later.
  Interpreter(const PythonText& text, const PythonWords& words,
              const std::vector<std::unique_ptr<Interpreter>>& others)
      : lines_(python_lines(text.text, text.name)),
        functions_(python_functions(lines_)),
        words_(words),
        name_(text.name),
        others_(others) {
    Lines all(lines_);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (starts_python_word(all[i].text, "def") || starts_python_word(all[i].text, "class")) {
        i = end_of_block(all, i) - 1;
      } else if (starts_python_word(all[i].text, "from") ||
                 starts_python_word(all[i].text, "import")) {
        for (auto& [name, original] : python_imports(all[i].text)) {
          imported_.insert_or_assign(std::move(name), std::move(original));
        }
      } else if (!starts_python_word(all[i].text, "if")) {
        statement(all, i, globals_);
      }
    }
    unread_.clear();
  }

  [[nodiscard]] const std::vector<PythonFunction>& functions() const { return functions_; }
  std::vector<PythonUnread>& unread() { return unread_; }

  /// The first call of the root in a text, outside of functions.
  Tree first_root(std::string_view text) {
    const std::size_t at = find_python_call(text, words_.root);
    if (at == std::string_view::npos) {
      fail_input(fmt::format("{}: has no call of {}", name_, words_.root));
    }
    const auto line = static_cast<std::uint32_t>(1 + std::ranges::count(text.substr(0, at), '\n'));
    const PythonScope scope = scope_of(globals_);
    PythonReader reader(text.substr(at + words_.root.size() + 1), line, name_, scope);
    Tree tree = reader.arguments();
    count(tree);
    return tree;
  }

  const PythonFunction* find(std::string_view function) const {
    const auto found = std::ranges::find(functions_, function, &PythonFunction::name);
    return found == functions_.end() ? nullptr : &*found;
  }

  /// What a function returns; with `changed` also what its first parameter is in the end.
  Tree call(const PythonFunction& function, const Tree& arguments, Tree* changed = nullptr) {
    if (std::ranges::find(stack_, function.name) != stack_.end()) {
      fail_input(fmt::format("{}:{}: the function {} calls itself", name_, function.head.line,
                             printable(function.name)));
    }
    if (stack_.size() == kDeepestCall) {
      fail_input(fmt::format("{}:{}: functions call each other deeper than {} levels", name_,
                             function.head.line, kDeepestCall));
    }
    stack_.push_back(function.name);
    PythonFrame frame;
    const std::string first = bind(function, arguments, frame);
    const auto result = run(function.body, frame);
    stack_.pop_back();
    if (changed != nullptr) *changed = frame.find(first).value_or(unread_value(first));
    return result.value_or(unread_value(function.head.text));
  }

  /// Whether a function gives a configuration.
  bool makes_root(const PythonFunction& function) const {
    const std::string_view head = function.head.text;
    const std::size_t arrow = head.rfind("->");
    if (arrow != std::string_view::npos &&
        head.substr(arrow).find(words_.root) != std::string_view::npos) {
      return true;
    }
    return std::ranges::any_of(function.body, [&](const PythonLine& line) {
      return find_python_call(line.text, words_.root) != std::string_view::npos;
    });
  }

 private:
  static std::size_t end_of_block(Lines lines, std::size_t head) {
    std::size_t end = head + 1;
    while (end < lines.size() && lines[end].indent > lines[head].indent) ++end;
    return end;
  }

  /// Counts what a value holds, so that doubling ends.
  void count(const Tree& tree) {
    const auto weight = weight_of(tree);
    if (!weight) fail_input(fmt::format("{}: its values nest too deep", name_));
    values_ += *weight;
    if (values_ > kMostValues) {
      fail_input(fmt::format("{}: its values grow beyond {}", name_, kMostValues));
    }
  }

  void note(std::string_view name, std::string_view expression, std::uint32_t line) {
    if (unread_.size() < kMostUnread) {
      unread_.push_back({std::string(name), unread_value(expression).text, line});
    }
  }

  PythonScope scope_of(PythonFrame& frame) {
    PythonScope scope;
    scope.variable = [&](const std::string& path) -> std::optional<Tree> {
      auto value = frame.find(path);
      if (value) {
        if (value->kind == Tree::Kind::kMapping) frame.put_away(path);
      } else {
        value = globals_.find(path);
        if (!value) value = imported_value(path);
      }
      if (value) count(*value);
      return value;
    };
    scope.call = [&](const std::string& function, const Tree& arguments) {
      const std::size_t dot = function.rfind('.');
      if (dot != std::string::npos) {
        auto of = frame.find(function.substr(0, dot));
        if (!of) of = globals_.find(function.substr(0, dot));
        if (of) {
          if (auto result = python_method(*of, function.substr(dot + 1), arguments)) return result;
        }
      }
      return result_of(function, arguments);
    };
    scope.decided = [&](std::string_view text, std::uint32_t line) -> std::optional<Tree> {
      const bool beyond =
          deciding_ == kDeepestChoice || text.size() > kLongestChoice || ++choices_ > kMostChoices;
      if (beyond || starts_python_word(text, "lambda")) return std::nullopt;
      ++deciding_;
      auto value = decided_value(text, line, frame);
      --deciding_;
      return value;
    };
    scope.gives_same = [&](const std::string& method) {
      return std::ranges::find(words_.same, method) != words_.same.end();
    };
    return scope;
  }

  std::optional<Tree> result_of(const std::string& function, const Tree& arguments) {
    if (words_.chosen) {
      auto value = words_.chosen(function, arguments, [&](const std::string& name) {
        std::optional<Tree> found;
        for (const auto& one : others_) {
          if (!found) found = one->globals_.find(name);
        }
        return found;
      });
      if (value) {
        count(*value);
        return value;
      }
    }
    if (const auto [owner, its] = find_anywhere(function); its != nullptr) {
      Tree result = owner->call(*its, arguments);
      count(result);
      if (owner != this) leave_places(result);
      return result;
    }
    const Tree* unnamed = arguments.find("[]");
    const Tree* first = unnamed == nullptr ? nullptr : &unnamed->items.front();
    const bool copies = function == "copy.deepcopy" || function == "deepcopy" ||
                        function == "copy.copy" || function == "int" || function == "float" ||
                        function == "str";
    if (copies && first != nullptr) return *first;
    if (function == "dict" && first == nullptr) return arguments;
    if ((function == "dataclasses.replace" || function == "replace") && first != nullptr &&
        first->kind == Tree::Kind::kMapping) {
      Tree changed = *first;
      for (std::size_t i = 0; i + 1 < arguments.items.size(); i += 2) {
        if (arguments.items[i].text != "[]") {
          changed.set(arguments.items[i].text, arguments.items[i + 1]);
        }
      }
      return changed;
    }
    return words_.known ? words_.known(function, arguments, name_) : std::nullopt;
  }

  Tree evaluate(std::string_view text, std::uint32_t line, PythonFrame& frame) {
    const PythonScope scope = scope_of(frame);
    PythonReader reader(text, line, name_, scope);
    Tree value = reader.value();
    if (!python_trimmed(reader.rest()).empty()) {
      value = unread_value(text);
      value.line = line;
    }
    count(value);
    return value;
  }

  /// "a if b else c", "a > b" and "bool(a)", where b or a is known.
  std::optional<Tree> decided_value(std::string_view text, std::uint32_t line, PythonFrame& frame) {
    const std::size_t if_at = find_python_operator(text, " if ");
    const std::size_t else_at = find_python_operator(text, " else ");
    std::optional<bool> holds;
    if (if_at < else_at && else_at != std::string_view::npos) {
      holds = condition(text.substr(if_at + 4, else_at - if_at - 4), line, frame);
      if (!holds) return std::nullopt;
      return evaluate(python_trimmed(*holds ? text.substr(0, if_at) : text.substr(else_at + 6)),
                      line, frame);
    }
    if (text.starts_with("bool(") && find_python_operator(text.substr(5), ")") == text.size() - 6) {
      holds = condition(text.substr(5, text.size() - 6), line, frame);
    } else {
      holds = comparison(text, line, frame);
    }
    if (!holds) return std::nullopt;
    Tree value(*holds);
    value.line = line;
    return value;
  }

  /// Gives parameters their values; the name of the first.
  std::string bind(const PythonFunction& function, const Tree& arguments, PythonFrame& frame) {
    const PythonScope scope = scope_of(globals_);
    const std::string_view head = function.head.text;
    const std::size_t open = std::min(head.find('('), head.size() - 1);
    PythonReader reader(head.substr(open + 1), function.head.line, name_, scope);
    const Tree* unnamed = arguments.find("[]");
    std::size_t position = 0;
    std::vector<std::string> names;
    while (!reader.rest().empty() && !reader.take(')')) {
      const bool star = reader.take('*');
      const bool stars = star && reader.take('*');
      const std::string word = reader.word();
      if (reader.take(':')) reader.pass_until(",=");
      Tree value = unread_value(fmt::format("argument {} of {}", word, function.name));
      value.line = function.head.line;
      if (reader.take('=')) value = reader.value();
      if (stars) {
        value = Tree::mapping();
        for (std::size_t i = 0; i + 1 < arguments.items.size(); i += 2) {
          const std::string& key = arguments.items[i].text;
          const bool bound = std::ranges::find(names, key) != names.end();
          if (!bound && key != "[]") value.set(key, arguments.items[i + 1]);
        }
      } else if (const Tree* given = arguments.find(word)) {
        value = *given;
      } else if (!star && unnamed != nullptr && position < unnamed->items.size()) {
        value = unnamed->items[position];
      }
      if (!star) ++position;
      if (!word.empty() && is_python_path(word)) frame.set(word, value, unread_);
      names.push_back(word);
      if (!reader.take(',') && !reader.rest().starts_with(')')) break;
    }
    return names.empty() ? "" : names.front();
  }

  /// The value that statements of one block return, if they do.
  std::optional<Tree> run(Lines lines, PythonFrame& frame) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (starts_python_word(lines[i].text, "return")) {
        return evaluate(python_trimmed(lines[i].text.substr(6)), lines[i].line, frame);
      }
      if (auto result = statement(lines, i, frame)) return result;
    }
    return std::nullopt;
  }

  /// One statement with its block; `at` is left on its last line.
  std::optional<Tree> statement(Lines lines, std::size_t& at, PythonFrame& frame) {
    const PythonLine& line = lines[at];
    const std::size_t end = end_of_block(lines, at);
    if (starts_python_word(line.text, "if")) return choice(lines, at, frame);
    if (end > at + 1 || line.text.ends_with(':')) {
      const Lines block = lines.subspan(at + 1, end - at - 1);
      at = end - 1;
      if (starts_python_word(line.text, "with") || starts_python_word(line.text, "try"))
        return run(block, frame);
      if (!starts_python_word(line.text, "def") && !starts_python_word(line.text, "class")) {
        pass_over(line, block, frame);
      }
      return std::nullopt;
    }
    if (!says_nothing_in_python(line.text)) assign(line, frame);
    return std::nullopt;
  }

  /// A condition: the branch that is known to be taken, or nothing of them all.
  std::optional<Tree> choice(Lines lines, std::size_t& at, PythonFrame& frame) {
    std::optional<bool> decided = false;
    std::optional<Tree> result;
    const std::uint32_t indent = lines[at].indent;
    while (at < lines.size() && lines[at].indent == indent) {
      const std::string_view head = lines[at].text;
      const bool first = starts_python_word(head, "if");
      if (!first && !starts_python_word(head, "elif") && !starts_python_word(head, "else")) break;
      const std::size_t end = end_of_block(lines, at);
      const Lines block = lines.subspan(at + 1, end - at - 1);
      if (!decided) {
        pass_over(lines[at], block, frame);
      } else if (!*decided) {
        const std::size_t space = first ? 2 : 4;
        const std::string_view what = head.substr(space, head.rfind(':') - space);
        const bool last = python_trimmed(what).empty();
        decided = last ? std::optional(true) : condition(what, lines[at].line, frame);
        if (!decided) pass_over(lines[at], block, frame);
        if (decided && *decided) result = run(block, frame);
        if (!head.ends_with(':')) note(head, head, lines[at].line);
      }
      at = end;
      if (at < lines.size() && starts_python_word(lines[at].text, "if")) break;
    }
    --at;
    return result;
  }

  /// "kind == 'adam'": what a comparison of known values gives; nothing for other expressions.
  std::optional<bool> comparison(std::string_view text, std::uint32_t line, PythonFrame& frame) {
    for (const std::string_view sign : {"==", "!=", "<=", ">=", "<", ">"}) {
      const std::size_t at = find_python_operator(text, fmt::format(" {} ", sign));
      if (at == std::string_view::npos) continue;
      const Tree left = evaluate(python_trimmed(text.substr(0, at)), line, frame);
      const Tree right = evaluate(python_trimmed(text.substr(at + sign.size() + 2)), line, frame);
      return compared_python(sign, left, right);
    }
    return std::nullopt;
  }

  /// "a or b", "a and b": what is known of either may decide.
  std::optional<bool> joined(std::string_view text, std::string_view word, std::uint32_t line,
                             PythonFrame& frame) {
    const std::size_t at = find_python_operator(text, word);
    const bool deciding = word == " or ";
    const auto left = condition(text.substr(0, at), line, frame);
    if (left == deciding || deciding_ == kDeepestChoice)
      return left == deciding ? left : std::nullopt;
    ++deciding_;
    const auto right = condition(text.substr(at + word.size()), line, frame);
    --deciding_;
    if (right == deciding) return right;
    return left ? right : std::nullopt;
  }

  /// Whether a condition holds; nothing where nobody knows.
  std::optional<bool> condition(std::string_view text, std::uint32_t line, PythonFrame& frame) {
    std::string_view what = python_trimmed(text);
    for (const std::string_view word : {" or ", " and "}) {
      if (find_python_operator(what, word) != std::string_view::npos) {
        return joined(what, word, line, frame);
      }
    }
    if (const auto equal = comparison(what, line, frame)) return equal;
    const bool negated = starts_python_word(what, "not");
    if (negated) what = python_trimmed(what.substr(3));
    const bool is_not_none = what.ends_with(" is not None");
    const bool is_none = !is_not_none && what.ends_with(" is None");
    if (is_none || is_not_none) {
      what = python_trimmed(what.substr(0, what.rfind(" is ")));
    }
    const Tree value = evaluate(what, line, frame);
    if (is_unread(value)) return std::nullopt;
    if (is_none || is_not_none) {
      return (value.kind == Tree::Kind::kNull) == (is_none != negated);
    }
    const bool off = value.kind == Tree::Kind::kNull ||
                     (value.kind == Tree::Kind::kScalar && !value.quoted &&
                      (value.text == "false" || value.text == "0")) ||
                     (value.kind == Tree::Kind::kScalar && value.text.empty()) ||
                     (value.kind != Tree::Kind::kScalar && value.items.empty());
    return off == negated;
  }

  /// Notes what a block would set that hangs on something unknown.
  void pass_over(const PythonLine& head, Lines block, const PythonFrame& frame) {
    for (const PythonLine& line : block) {
      if (says_nothing_in_python(line.text)) continue;
      if (starts_python_word(line.text, "return")) {
        note("return", fmt::format("{}  [{}]", line.text, head.text), line.line);
      }
      const PythonAssignment set = python_assignment(line, name_);
      if (!set.value) continue;
      const bool outer = is_python_path(set.target) && frame.knows(std::string(set.target));
      if (outer) note(set.target, fmt::format("{}  [{}]", line.text, head.text), line.line);
    }
  }

  /// "use_defaults(config.model, 2)": whether it is a function of the files that changes what its
  /// first argument names.
  bool changes_first(const PythonLine& line, PythonFrame& frame) {
    const std::size_t open = line.text.find('(');
    if (open == std::string_view::npos || !line.text.ends_with(')')) return false;
    const auto [owner, function] = find_anywhere(line.text.substr(0, open));
    if (function == nullptr) return false;
    const std::string_view arguments = line.text.substr(open + 1);
    const std::string path(python_trimmed(arguments.substr(0, arguments.find_first_of(",)"))));
    if (!is_python_path(path) || !frame.knows(path)) return false;
    const PythonScope scope = scope_of(frame);
    PythonReader reader(arguments, line.line, name_, scope);
    const Tree given = reader.arguments();
    if (!python_trimmed(reader.rest()).empty()) return false;
    Tree changed;
    owner->call(*function, given, &changed);
    count(changed);
    if (owner != this) leave_places(changed);
    frame.take_back(path);
    frame.set(path, std::move(changed), unread_);
    return true;
  }

  /// What an imported name, or one of an imported module, is in the texts.
  std::optional<Tree> imported_value(const std::string& path) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    const auto imported = imported_.find(path.substr(0, dot));
    if (imported == imported_.end()) return std::nullopt;
    std::vector<std::string> names = {imported->second + path.substr(dot)};
    if (dot < path.size()) names.push_back(path.substr(dot + 1));
    for (const std::string& name : names) {
      for (const auto& other : others_) {
        auto value = other.get() == this ? std::nullopt : other->globals_.find(name);
        if (value) {
          leave_places(*value);
          return value;
        }
      }
    }
    return std::nullopt;
  }

  /// A function of this text, or else of another one, with whose it is.
  std::pair<Interpreter*, const PythonFunction*> find_anywhere(std::string_view name) {
    if (const PythonFunction* own = find(name)) return {this, own};
    const std::size_t dot = std::min(name.find('.'), name.size());
    const auto imported = imported_.find(name.substr(0, dot));
    if (imported != imported_.end()) {
      name = dot < name.size() ? name.substr(dot + 1) : std::string_view(imported->second);
    }
    for (const auto& other : others_) {
      if (const PythonFunction* its = other->find(name)) return {other.get(), its};
    }
    return {nullptr, nullptr};
  }

  void assign(const PythonLine& line, PythonFrame& frame) {
    if (++assignments_ > kMostAssignments) {
      fail_input(
          fmt::format("{}:{}: has more than {} assignments", name_, line.line, kMostAssignments));
    }
    const PythonAssignment set = python_assignment(line, name_);
    if (!set.value) {
      if (changes_first(line, frame)) return;
      note(line.text.substr(0, line.text.find('(')), line.text, line.line);
      return;
    }
    if (!is_python_path(set.target)) {
      forget(set.target, line, frame);
      return;
    }
    const std::string target(set.target);
    if (set.changes) {
      Tree unknown = unread_value(line.text);
      unknown.line = line.line;
      frame.set(target, std::move(unknown), unread_);
      return;
    }
    const std::string value(*set.value);
    if (is_python_path(value) && frame.knows(value) && target.find('.') == std::string::npos) {
      frame.alias(target, value);
      return;
    }
    frame.set(target, evaluate(*set.value, line.line, frame), unread_);
  }

  /// "a, b = f()", "a[0] = b": what was known of the names is not any more.
  void forget(std::string_view targets, const PythonLine& line, PythonFrame& frame) {
    bool any = false;
    while (!targets.empty()) {
      const std::size_t comma = std::min(targets.find(','), targets.size());
      const std::string_view one = python_trimmed(targets.substr(0, comma));
      targets.remove_prefix(std::min(comma + 1, targets.size()));
      if (!is_python_path(one)) continue;
      Tree unknown = unread_value(line.text);
      unknown.line = line.line;
      frame.set(std::string(one), std::move(unknown), unread_);
      any = true;
    }
    if (!any) note(line.text.substr(0, line.text.find('=')), line.text, line.line);
  }

  std::vector<PythonLine> lines_;
  std::vector<PythonFunction> functions_;
  const PythonWords& words_;
  const std::string& name_;
  const std::vector<std::unique_ptr<Interpreter>>& others_;
  std::map<std::string, std::string, std::less<>> imported_;  ///< Names, and what they are there.
  PythonFrame globals_;
  std::vector<std::string_view> stack_;
  std::vector<PythonUnread> unread_;
  std::size_t values_ = 0;
  std::size_t assignments_ = 0;
  std::size_t choices_ = 0;
  int deciding_ = 0;  ///< Conditions within each other that are looked at.
};

std::string listed(const std::vector<std::string_view>& names) {
  const std::size_t shown = std::min(names.size(), kMostNamed);
  const std::vector<std::string_view> first(names.begin(),
                                            names.begin() + static_cast<std::ptrdiff_t>(shown));
  return fmt::format("{}{}", fmt::join(first, ", "), shown < names.size() ? ", ..." : "");
}

/// The function that is meant, or the only one that makes a configuration.
const PythonFunction* chosen(const Interpreter& interpreter, const std::string& function,
                             std::string_view root, const std::string& name) {
  std::vector<std::string_view> names;
  const PythonFunction* only = nullptr;
  for (const PythonFunction& one : interpreter.functions()) {
    if (one.name.starts_with('_') || !interpreter.makes_root(one)) continue;
    names.push_back(one.name);
    only = &one;
  }
  if (!function.empty()) {
    if (const PythonFunction* found = interpreter.find(function)) return found;
    fail_input(fmt::format("{}: has no function {}; those that make a {} are {}", name,
                           printable(function), root, listed(names)));
  }
  if (names.size() > 1) {
    fail_input(fmt::format("{}: has {} functions that make a {}: --function picks one of {}", name,
                           names.size(), root, listed(names)));
  }
  return only;
}

/// "(precision='fp8')".
Tree given_arguments(const std::string& text) {
  if (text.empty()) return Tree::mapping();
  static const std::string kName = "--function";
  const PythonScope nothing;
  PythonReader reader(std::string_view(text).substr(1), 1, kName, nothing);
  Tree arguments = reader.arguments();
  if (!python_trimmed(reader.rest()).empty()) reader.fail("ends with more than its arguments");
  leave_places(arguments);
  return arguments;
}

/// Values that are no literals, and where they stand.
void collect(const Tree& tree, const std::string& path, std::vector<PythonUnread>& unread) {
  if (unread.size() >= kMostUnread) return;
  if (is_unread(tree)) unread.push_back({path, tree.text, tree.line});
  const auto below = [&](std::string_view key) {
    return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
  };
  if (tree.kind == Tree::Kind::kMapping) {
    for (std::size_t i = 0; i + 1 < tree.items.size(); i += 2) {
      collect(tree.items[i + 1], below(tree.items[i].text), unread);
    }
  } else {
    for (std::size_t i = 0; i < tree.items.size(); ++i) {
      collect(tree.items[i], below(fmt::to_string(i)), unread);
    }
  }
}

}  // namespace

PythonConfig read_python_config(std::span<const PythonText> texts, const PythonWords& words,
                                const std::string& function) {
  std::vector<std::unique_ptr<Interpreter>> interpreters;
  for (const PythonText& text : texts) {
    interpreters.push_back(std::make_unique<Interpreter>(text, words, interpreters));
  }
  Interpreter& first = *interpreters.front();
  const auto& [text, name] = texts.front();
  PythonConfig config;
  const std::size_t open = std::min(function.find('('), function.size());
  if (const PythonFunction* found = chosen(first, function.substr(0, open), words.root, name)) {
    config.function = std::string(found->name);
    config.tree = first.call(*found, given_arguments(function.substr(open)));
  } else {
    config.tree = first.first_root(text);
  }
  if (is_unread(config.tree)) {
    fail_input(fmt::format("{}:{}: what {} returns is not followed: {}", name, config.tree.line,
                           printable(config.function), printable(config.tree.text)));
  }
  if (config.tree.kind != Tree::Kind::kMapping) {
    fail_input(fmt::format("{}: {} returns no {}", name, printable(config.function), words.root));
  }
  for (const auto& one : interpreters) {
    for (PythonUnread& unread : one->unread()) {
      if (one != interpreters.front()) unread.line = 0;
      config.unread.push_back(std::move(unread));
    }
  }
  collect(config.tree, "", config.unread);
  return config;
}

}  // namespace stepwright
