#include "stepwright/framework_files/syntax/python_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <set>
#include <span>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/framework_files/syntax/python_expression.h"
#include "stepwright/framework_files/syntax/python_source.h"
#include "stepwright/framework_files/syntax/python_state.h"
#include "stepwright/framework_files/syntax/python_statement.h"

namespace stepwright {
namespace {

using ObjectKind = PythonObject::Kind;
using FollowedLines = std::span<const PythonLine>;

constexpr std::size_t kMostFollowed = 5'000'000;
constexpr std::size_t kDeepestFollowed = 30;
constexpr int kDeepestFollowedBlock = 60;

/// A function, at the top, in a class or in another function.
struct FollowedFunction {
  std::string name;
  std::string_view parameters;
  std::uint32_t line = 0;
  FollowedLines body;
  bool nested = false;  ///< It sees what the function around it has.
  bool called = false;
};

struct FollowedClass {
  std::string name;
  std::string base;
  FollowedLines body;
};

enum class PythonFlow : std::uint8_t { kNext, kReturn, kLeave };

/// Parts of a text between commas outside of brackets.
std::vector<std::string_view> comma_parts(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t comma = std::min(find_python_operator(text, ","), text.size());
    const std::string_view part = python_trimmed(text.substr(0, comma));
    if (!part.empty()) parts.push_back(part);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

PythonObject given_value(const std::string& text, std::uint32_t line) {
  if (text == "True" || text == "true") return PythonObject::boolean(true);
  if (text == "False" || text == "false") return PythonObject::boolean(false);
  const bool digits = !text.empty() && text.size() < 18 &&
                      text.find_first_not_of("0123456789") == std::string::npos;
  return digits ? PythonObject::integer(std::stoll(text), line) : PythonObject::string(text, line);
}

class PythonProgram final : public PythonNames {
 public:
  PythonProgram(std::string_view text, const std::string& name, PythonGiven& given)
      : name_(name), given_(given), lines_(python_lines(text, name)) {
    frames_.emplace_back();
    globals()["__name__"] = PythonObject::string("__main__", 1);
    globals()["__file__"] = PythonObject::string(name, 1);
  }

  [[nodiscard]] const std::string& file() const override { return name_; }

  void follow(const std::function<bool()>& done) {
    run(lines_);
    std::vector<std::string> names;
    for (const auto& [name, function] : functions_) {
      if (!function.called && !function.nested && name.find('.') == std::string::npos) {
        names.push_back(name);
      }
    }
    if (done()) return;
    for (const std::string& name : names) {
      // One of the others may have called it.
      FollowedFunction& function = functions_.at(name);
      if (!function.called) invoke(function, {}, nullptr);
    }
  }

  PythonObject value(const std::string& path, std::uint32_t line) override {
    const std::size_t dot = path.rfind('.');
    const auto said = given_.values.find(dot == std::string::npos ? path : path.substr(dot + 1));
    if (said != given_.values.end()) return given_value(said->second, line);
    const std::string full = canonical(path);
    if (full == "os.environ") return given_.environment;
    if (full == "sys.executable") return PythonObject::string("python", line);
    if (full == "sys.argv") return PythonObject::unknown("argv", line);
    PythonObject* found = find(path.substr(0, path.find('.')));
    if (found == nullptr) return PythonObject::unknown(path, line);
    PythonObject one = *found;
    for (std::size_t at = path.find('.'); at != std::string::npos;) {
      const std::size_t next = path.find('.', at + 1);
      const std::string part = path.substr(at + 1, next - at - 1);
      PythonObject* member = one.is(ObjectKind::kRecord) ? one.body->find(part) : nullptr;
      if (part == "parent" && one.is(ObjectKind::kText)) {
        at = next;
        continue;
      }
      PythonObject deeper = member != nullptr ? *member : PythonObject::unknown(part, line);
      one = std::move(deeper);
      at = next;
    }
    if (one.line == 0 || one.text.text.empty()) one.line = line;
    return one;
  }

  PythonObject call(const std::string& path, const PythonArguments& given) override {
    const std::string full = canonical(path);
    if (const auto function = functions_.find(path); function != functions_.end()) {
      return invoke(function->second, given, nullptr);
    }
    if (const auto type = classes_.find(path); type != classes_.end()) {
      return instance(type->second, given);
    }
    if (auto known = given_.call(full, given)) return *known;
    if (auto known = python_library(full, given)) return *known;
    const std::size_t dot = path.rfind('.');
    if (dot == std::string::npos) return PythonObject::unknown(path, given.line);
    PythonObject self = value(path.substr(0, dot), given.line);
    const std::string method = path.substr(dot + 1);
    if (self.is(ObjectKind::kRecord)) {
      const auto own = functions_.find(self.body->made_by + "." + method);
      if (own != functions_.end()) return invoke(own->second, given, &self);
    }
    PythonArguments of = given;
    of.unnamed.insert(of.unnamed.begin(), self);
    if (auto known = given_.call("." + method, of)) return *known;
    if (auto known = python_object_method(self, method, given)) return *known;
    return PythonObject::unknown(self.is(ObjectKind::kUnknown) ? method : path, given.line);
  }

  void bind(const std::string& name, PythonObject value) override {
    const auto said = given_.values.find(name);
    if (said != given_.values.end()) value = given_value(said->second, value.line);
    const std::size_t dot = name.rfind('.');
    if (dot == std::string::npos) {
      (global_names_.contains(name) ? globals() : frames_.back().names)[name] = std::move(value);
      return;
    }
    const PythonObject owner = this->value(name.substr(0, dot), value.line);
    if (owner.is(ObjectKind::kRecord)) owner.body->set(name.substr(dot + 1), value);
  }

  void spend(std::size_t effort, std::uint32_t line) override {
    effort_ += effort;
    if (effort_ > kMostFollowed) {
      fail_input(fmt::format("{}:{}: following what it does takes too much", name_, line));
    }
  }

 private:
  PythonState::Names& globals() { return frames_.front().names; }

  PythonObject* find(const std::string& name) {
    for (std::size_t i = frames_.size(); i-- > 0;) {
      const auto found = frames_[i].names.find(name);
      if (found != frames_[i].names.end()) return &found->second;
      if (!frames_[i].nested) break;
    }
    const auto found = globals().find(name);
    return found != globals().end() ? &found->second : nullptr;
  }

  /// A path with the module's name where it was imported under another.
  std::string canonical(const std::string& path) const {
    const std::size_t dot = std::min(path.find('.'), path.size());
    const auto imported = imported_.find(path.substr(0, dot));
    return imported == imported_.end() ? path : imported->second + path.substr(dot);
  }

  PythonObject evaluate(std::string_view text, std::uint32_t line) {
    return python_expression(text, line, *this);
  }

  /// Gives a function what it is called with, and follows it.
  PythonObject invoke(FollowedFunction& function, const PythonArguments& given,
                      const PythonObject* self) {
    function.called = true;
    if (frames_.size() > kDeepestFollowed) return PythonObject::unknown(function.name, given.line);
    PythonState::Frame frame;
    frame.nested = function.nested;
    std::size_t place = 0;
    bool first = true;
    for (const std::string_view part : comma_parts(function.parameters)) {
      if (first && self != nullptr) {
        frame.names[std::string(part)] = *self;
      } else {
        parameter(part, given, place, frame);
      }
      first = false;
    }
    const auto outer = std::exchange(global_names_, {});
    frames_.push_back(std::move(frame));
    returned_ = PythonObject();
    run(function.body);
    frames_.pop_back();
    global_names_ = outer;
    return std::exchange(returned_, PythonObject());
  }

  /// "name: type = default".
  void parameter(std::string_view part, const PythonArguments& given, std::size_t& place,
                 PythonState::Frame& frame) {
    if (part == "*" || part == "/") return;
    if (part.starts_with("**")) {
      PythonObject rest = PythonObject::record();
      for (const auto& [key, value] : given.named) rest.body->set(key, value);
      frame.names[std::string(part.substr(2))] = rest;
      return;
    }
    if (part.starts_with('*')) {
      PythonObject rest = PythonObject::list();
      for (; place < given.unnamed.size(); ++place)
        rest.body->items.push_back(given.unnamed[place]);
      frame.names[std::string(part.substr(1))] = rest;
      return;
    }
    const std::size_t equals = find_python_operator(part, "=");
    const std::string_view declared = part.substr(0, equals);
    const std::size_t colon = std::min(declared.find(':'), declared.size());
    const std::string name(python_trimmed(declared.substr(0, colon)));
    const auto said = given_.values.find(name);
    const PythonObject* value = given.find(name, place++);
    if (said != given_.values.end()) {
      frame.names[name] = given_value(said->second, given.line);
    } else if (value != nullptr) {
      frame.names[name] = *value;
    } else if (equals != std::string_view::npos) {
      frame.names[name] = evaluate(python_trimmed(part.substr(equals + 1)), given.line);
    } else {
      const std::string type(python_trimmed(declared.substr(std::min(colon + 1, declared.size()))));
      const auto made = classes_.find(type);
      frame.names[name] = made != classes_.end() ? instance(made->second, {})
                                                 : PythonObject::unknown(name, given.line);
    }
  }

  PythonObject instance(const FollowedClass& type, const PythonArguments& given) {
    PythonObject made = PythonObject::record();
    made.body->made_by = type.name;
    made.line = given.line;
    std::size_t place = 0;
    fields(type, given, place, made, 0);
    for (const char* method : {".__init__", ".__post_init__"}) {
      const auto found = functions_.find(type.name + method);
      if (found == functions_.end()) continue;
      invoke(found->second, std::string_view(method) == ".__init__" ? given : PythonArguments(),
             &made);
    }
    return made;
  }

  void fields(const FollowedClass& type, const PythonArguments& given, std::size_t& place,
              PythonObject& made, int depth) {
    constexpr int kDeepestBase = 10;
    const auto base = classes_.find(type.base);
    if (base != classes_.end() && depth < kDeepestBase) {
      fields(base->second, given, place, made, depth + 1);
    } else if (auto known = given_.call("class " + canonical(type.base), given)) {
      for (const auto& [name, value] : known->body->members) made.body->set(name, value);
    }
    if (type.body.empty()) return;
    for (const PythonLine& line : type.body) {
      if (line.indent != type.body.front().indent || says_nothing_in_python(line.text)) continue;
      const PythonAssignment set = python_assignment(line, name_);
      const std::size_t colon = std::min(line.text.find(':'), line.text.size());
      const std::string name(set.value ? set.target : python_trimmed(line.text.substr(0, colon)));
      if (!is_python_path(name) || starts_python_word(line.text, "def")) continue;
      const auto said = given_.values.find(name);
      const PythonObject* value = given.find(name, place++);
      made.body->set(name, said != given_.values.end() ? given_value(said->second, line.line)
                           : value != nullptr          ? *value
                           : set.value                 ? evaluate(*set.value, line.line)
                                                       : PythonObject::unknown(name, line.line));
    }
  }

  static std::size_t end_of_block(FollowedLines lines, std::size_t at) {
    std::size_t end = at + 1;
    while (end < lines.size() && lines[end].indent > lines[at].indent) ++end;
    return end;
  }

  PythonFlow run(FollowedLines lines) {
    if (++depth_ > kDeepestFollowedBlock) {
      fail_input(fmt::format("{}:{}: blocks nest deeper than {} levels", name_,
                             lines.empty() ? 0 : lines.front().line, kDeepestFollowedBlock));
    }
    PythonFlow flow = PythonFlow::kNext;
    for (std::size_t at = 0; at < lines.size() && flow == PythonFlow::kNext;)
      flow = statement(lines, at);
    --depth_;
    return flow;
  }

  /// Follows a block, or the statement that stands behind its colon.
  PythonFlow block(const PythonLine& head, FollowedLines lines) {
    const std::size_t colon = find_python_operator(head.text, ":");
    const std::string_view same =
        python_trimmed(colon == std::string_view::npos ? "" : head.text.substr(colon + 1));
    if (same.empty()) return run(lines);
    const PythonLine one{same, head.line, head.indent + 1};
    return run({&one, 1});
  }

  PythonFlow statement(FollowedLines lines, std::size_t& at) {
    const PythonLine& line = lines[at];
    spend(1, line.line);
    std::string_view text = line.text;
    if (starts_python_word(text, "async")) text = python_trimmed(text.substr(5));
    if (starts_python_word(text, "if")) return conditional(lines, at);
    const std::size_t end = end_of_block(lines, at);
    const FollowedLines body = lines.subspan(at + 1, end - at - 1);
    at = end;
    if (starts_python_word(text, "def")) return defined(text, line, body, "");
    if (starts_python_word(text, "class")) return type(text, line, body);
    if (starts_python_word(text, "for")) return loop(text, line, body);
    if (starts_python_word(text, "while") || starts_python_word(text, "with") ||
        starts_python_word(text, "try") || starts_python_word(text, "finally")) {
      return around(text, line, body);
    }
    if (starts_python_word(text, "except") || starts_python_word(text, "elif") ||
        starts_python_word(text, "else") || starts_python_word(text, "match")) {
      return PythonFlow::kNext;
    }
    return simple(line);
  }

  PythonFlow simple(const PythonLine& line) {
    const std::string_view text = line.text;
    if (starts_python_word(text, "return")) {
      returned_ = evaluate(python_trimmed(text.substr(6)), line.line);
      if (python_trimmed(text.substr(6)).empty()) returned_ = PythonObject();
      return PythonFlow::kReturn;
    }
    if (starts_python_word(text, "raise")) return PythonFlow::kReturn;
    if (starts_python_word(text, "break") || starts_python_word(text, "continue")) {
      return PythonFlow::kLeave;
    }
    if (starts_python_word(text, "global")) {
      for (const std::string_view name : comma_parts(text.substr(6))) global_names_.emplace(name);
      return PythonFlow::kNext;
    }
    if (starts_python_word(text, "import") || starts_python_word(text, "from")) {
      imports(text);
      return PythonFlow::kNext;
    }
    if (text.empty() || says_nothing_in_python(text)) return PythonFlow::kNext;
    const PythonAssignment set = python_assignment(line, name_);
    if (!set.value) {
      evaluate(text, line.line);
      const bool ends = starts_python_word(text, "sys.exit") || starts_python_word(text, "exit");
      return ends ? PythonFlow::kReturn : PythonFlow::kNext;
    }
    // The value begins below its name where a bracket holds it together.
    const auto before = text.substr(0, static_cast<std::size_t>(set.value->data() - text.data()));
    const auto down = static_cast<std::uint32_t>(std::ranges::count(before, '\n'));
    assign(set, line, evaluate(*set.value, line.line + down));
    return PythonFlow::kNext;
  }

  void assign(const PythonAssignment& set, const PythonLine& line, PythonObject value) {
    const std::string_view target = set.target;
    if (target.ends_with(']')) return assign_item(target, line, value);
    if (set.changes) {
      PythonObject old = this->value(std::string(target), line.line);
      const char sign =
          line.text[static_cast<std::size_t>(target.data() - line.text.data()) +
                    line.text.substr(static_cast<std::size_t>(target.data() - line.text.data()))
                        .find('=') -
                    1];
      if (old.is(ObjectKind::kList) && sign == '+') {
        python_object_method(old, "extend", {{value}, {}, line.line});
        return;
      }
      value = python_operation(std::string_view(&sign, 1), old, value);
    }
    spend(python_weight(value), line.line);
    // What a function gives that nobody knows is called as the name that it is given.
    const bool called = set.value->ends_with(')') && is_python_path(target);
    if (value.is(ObjectKind::kUnknown) && called && !set.changes &&
        set.value->find("environ") == std::string_view::npos &&
        set.value->find("getenv") == std::string_view::npos) {
      value.text = PythonString(python_hole_name(target), line.line);
    }
    bind_python_targets(target, value, *this);
  }

  /// "a[key] = value".
  void assign_item(std::string_view target, const PythonLine& line, const PythonObject& value) {
    const std::size_t open = target.rfind('[');
    const PythonObject owner = evaluate(target.substr(0, open), line.line);
    const PythonObject key = evaluate(target.substr(open + 1, target.size() - open - 2), line.line);
    if (owner.is(ObjectKind::kRecord) && key.is(ObjectKind::kText))
      owner.body->set(key.text.text, value);
    if (!owner.is(ObjectKind::kList) || !key.is(ObjectKind::kInteger)) return;
    auto& items = owner.body->items;
    const auto size = static_cast<std::int64_t>(items.size());
    const std::int64_t place = key.number < 0 ? size + key.number : key.number;
    if (place >= 0 && place < size) items[static_cast<std::size_t>(place)] = python_copy(value);
  }

  void imports(std::string_view text) {
    std::string module;
    if (starts_python_word(text, "from")) {
      module = std::string(python_trimmed(text.substr(4, text.find(" import ") - 4))) + ".";
    }
    for (const auto& [name, there] : python_imports(text)) {
      if (name.find('.') == std::string::npos) imported_[name] = module + there;
    }
  }

  PythonFlow defined(std::string_view text, const PythonLine& line, FollowedLines body,
                     const std::string& owner) {
    const std::size_t open = text.find('(');
    if (open == std::string_view::npos) return PythonFlow::kNext;
    const std::size_t close = closing_python_bracket(text, open);
    const std::string name(python_trimmed(text.substr(3, open - 3)));
    const bool nested = frames_.size() > 1 && owner.empty();
    functions_[owner + name] = {
        owner + name, text.substr(open + 1, close - open - 1), line.line, body, nested, false};
    return PythonFlow::kNext;
  }

  PythonFlow type(std::string_view text, const PythonLine& line, FollowedLines body) {
    const std::size_t end = std::min(text.find_first_of("(:"), text.size());
    const std::string name(python_trimmed(text.substr(5, end - 5)));
    std::string base;
    if (end < text.size() && text[end] == '(') {
      const std::size_t close = closing_python_bracket(text, end);
      base = std::string(python_trimmed(text.substr(end + 1, close - end - 1)));
    }
    // Methods are no fields.
    std::size_t first = 0;
    while (first < body.size() && !starts_python_word(body[first].text, "def")) ++first;
    for (std::size_t at = first; at < body.size();) {
      const std::size_t stop = end_of_block(body, at);
      if (starts_python_word(body[at].text, "def")) {
        defined(body[at].text, body[at], body.subspan(at + 1, stop - at - 1), name + ".");
      }
      at = stop;
    }
    classes_[name] = {name, base, body.subspan(0, first)};
    static_cast<void>(line);
    return PythonFlow::kNext;
  }

  PythonFlow loop(std::string_view text, const PythonLine& line, FollowedLines body) {
    const std::size_t colon = find_python_operator(text, ":");
    const std::string_view head = text.substr(3, std::min(colon, text.size()) - 3);
    const std::size_t in = find_python_operator(head, " in ");
    if (in == std::string_view::npos) return PythonFlow::kNext;
    const PythonObject from = evaluate(python_trimmed(head.substr(in + 4)), line.line);
    std::vector<PythonObject> items = {PythonObject::unknown(head.substr(0, in), line.line)};
    if (from.is(ObjectKind::kList)) items = from.body->items;
    for (const PythonObject& item : items) {
      bind_python_targets(head.substr(0, in), item, *this);
      if (block(line, body) == PythonFlow::kReturn) return PythonFlow::kReturn;
    }
    return PythonFlow::kNext;
  }

  /// A block that is followed once.
  PythonFlow around(std::string_view text, const PythonLine& line, FollowedLines body) {
    const std::size_t colon = find_python_operator(text, ":");
    if (starts_python_word(text, "with")) {
      std::string_view head = text.substr(4, std::min(colon, text.size()) - 4);
      const std::size_t as = find_python_operator(head, " as ");
      const PythonObject held = evaluate(python_trimmed(head.substr(0, as)), line.line);
      if (as != std::string_view::npos) bind_python_targets(head.substr(as + 4), held, *this);
    }
    if (starts_python_word(text, "while")) {
      const auto truth = python_truth(
          evaluate(python_trimmed(text.substr(5, std::min(colon, text.size()) - 5)), line.line));
      if (!truth.value_or(true)) return PythonFlow::kNext;
    }
    return block(line, body) == PythonFlow::kReturn ? PythonFlow::kReturn : PythonFlow::kNext;
  }

  /// "if", "elif", "else": the branch that is known to be taken, or each.
  PythonFlow conditional(FollowedLines lines, std::size_t& at) {
    PythonState before;
    std::vector<PythonState> after;
    std::string open;
    bool last = false;
    const std::uint32_t indent = lines[at].indent;
    for (bool first = true; at < lines.size() && lines[at].indent == indent; first = false) {
      const PythonLine& head = lines[at];
      const bool start = starts_python_word(head.text, "if");
      const bool other = starts_python_word(head.text, "else");
      if (first != start || (!start && !other && !starts_python_word(head.text, "elif"))) break;
      const std::size_t end = end_of_block(lines, at);
      const FollowedLines body = lines.subspan(at + 1, end - at - 1);
      at = end;
      if (last) continue;
      std::optional<bool> holds = true;
      if (!other) {
        const std::size_t space = start ? 2 : 4;
        const std::size_t colon = find_python_operator(head.text, ":");
        const PythonObject condition = evaluate(
            python_trimmed(head.text.substr(space, std::min(colon, head.text.size()) - space)),
            head.line);
        holds = python_truth(condition);
        if (!holds && open.empty()) open = std::string(condition_name(condition));
      }
      if (holds && !*holds) continue;
      last = holds.has_value();
      if (last && after.empty() && open.empty()) {
        const PythonFlow flow = block(head, body);
        if (flow != PythonFlow::kNext) {
          pass_rest(lines, at, indent);
          return flow;
        }
        continue;
      }
      if (after.empty() && !before.taken()) before = taken(head.line);
      const PythonFlow flow = block(head, body);
      // A branch that only ends is not the one.
      if (flow == PythonFlow::kNext) after.push_back(taken(head.line));
      before.restore(frames_);
    }
    if (!before.taken()) return PythonFlow::kNext;
    if (!last) after.push_back(before);
    if (after.empty()) return PythonFlow::kReturn;
    after.front().restore(frames_);
    for (std::size_t i = 1; i < after.size(); ++i) after[i].merge(frames_, open);
    return PythonFlow::kNext;
  }

  static std::string condition_name(const PythonObject& condition) {
    const PythonString text = python_str(condition);
    const std::size_t begin = text.text.find(kHoleBegin);
    if (begin == std::string::npos) return "value";
    return text.text.substr(begin + 1, text.text.find(kHoleEnd, begin) - begin - 1);
  }

  static void pass_rest(FollowedLines lines, std::size_t& at, std::uint32_t indent) {
    while (at < lines.size() && lines[at].indent == indent &&
           (starts_python_word(lines[at].text, "elif") ||
            starts_python_word(lines[at].text, "else"))) {
      at = end_of_block(lines, at);
    }
  }

  PythonState taken(std::uint32_t line) {
    PythonState state(frames_);
    spend(state.weight(), line);
    return state;
  }

  std::string name_;
  PythonGiven& given_;
  std::vector<PythonLine> lines_;
  std::vector<PythonState::Frame> frames_;
  std::set<std::string> global_names_;
  std::map<std::string, FollowedFunction> functions_;
  std::map<std::string, FollowedClass> classes_;
  std::map<std::string, std::string> imported_;
  PythonObject returned_;
  std::size_t effort_ = 0;
  int depth_ = 0;
};

}  // namespace

void follow_python(std::string_view text, const std::string& name, PythonGiven& given,
                   const std::function<bool()>& done) {
  PythonProgram(text, name, given).follow(done);
}

}  // namespace stepwright
