#include <fmt/format.h>

#include <algorithm>

#include "stepwright/core/error.h"
#include "stepwright/core/trimmed.h"
#include "stepwright/launch_scripts/python/arithmetic.h"
#include "stepwright/launch_scripts/python/library.h"
#include "stepwright/launch_scripts/python/program.h"

// Interprets the statements of a program, in order.

namespace stepwright::launch_scripts {
namespace {

using ObjectKind = PythonObject::Kind;

constexpr int kDeepestBlock = 100;

bool starts_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words,
                             [&](std::string_view word) { return starts_python_word(text, word); });
}

/// Returns the text between a statement's keyword and its colon.
std::string_view head_behind(std::string_view text, std::size_t word) {
  const std::size_t colon = end_of_python_item(text, 0, ":");
  return trimmed(text.substr(word, std::max(colon, word) - word));
}

/// Returns the statement on the same line, after the colon.
PythonStatement same_line(const PythonStatement& head) {
  const std::size_t colon = end_of_python_item(head.text, 0, ":");
  const std::string_view same = head.text.substr(std::min(colon + 1, head.text.size()));
  return {trimmed(same), head.line, head.indent + 1};
}

}  // namespace

std::size_t end_of_python_block(std::span<const PythonStatement> lines, std::size_t head) {
  std::size_t end = head + 1;
  while (end < lines.size() && lines[end].indent > lines[head].indent) ++end;
  return end;
}

PythonProgram::Flow PythonProgram::run(Lines lines) {
  if (++depth_ > kDeepestBlock) {
    fail_input(fmt::format("{}:{}: blocks nest deeper than {} levels", file(),
                           lines.empty() ? 0 : lines.front().line, kDeepestBlock));
  }
  Flow flow = Flow::kNext;
  for (std::size_t at = 0; at < lines.size() && flow == Flow::kNext;) flow = statement(lines, at);
  --depth_;
  return flow;
}

/// Interprets a block, or the single statement after its colon.
PythonProgram::Flow PythonProgram::block(const PythonStatement& head, Lines lines) {
  const PythonStatement same = same_line(head);
  return same.text.empty() ? run(lines) : run({&same, 1});
}

PythonProgram::Flow PythonProgram::statement(Lines lines, std::size_t& at) {
  const PythonStatement& line = lines[at];
  add_python_interpretation_effort(1, line.line);
  std::string_view text = line.text;
  if (starts_python_word(text, "async")) text = trimmed(text.substr(5));
  if (starts_python_word(text, "if")) return conditional(lines, at);
  const std::size_t end = end_of_python_block(lines, at);
  const Lines body = lines.subspan(at + 1, end - at - 1);
  at = end;
  return compound(text, line, body);
}

PythonProgram::Flow PythonProgram::compound(std::string_view text, const PythonStatement& line,
                                            Lines body) {
  if (starts_python_word(text, "def")) {
    define(text, line, body, "");
  } else if (starts_python_word(text, "class")) {
    define_class(text, body);
  } else if (starts_python_word(text, "match") && body.empty()) {
    return simple(line);
  } else if (starts_any(text, {"while", "except", "elif", "else", "match"})) {
    pass_over(line, body);
  } else if (starts_python_word(text, "for")) {
    return loop(text, line, body);
  } else if (starts_any(text, {"with", "try", "finally"})) {
    return around(text, line, body);
  } else {
    return simple(line);
  }
  return Flow::kNext;
}

PythonProgram::Flow PythonProgram::simple(const PythonStatement& line) {
  const std::string_view text = line.text;
  if (starts_python_word(text, "return")) {
    const std::string_view what = trimmed(text.substr(6));
    returned_ = what.empty() ? PythonObject() : evaluate_program_expression(what, line.line);
    return Flow::kReturn;
  }
  if (starts_python_word(text, "raise")) {
    returned_ = PythonObject::unknown(text, recorded_line(line.line));
    returned_.said = std::string(text);
    return Flow::kReturn;
  }
  if (starts_python_word(text, "break")) return Flow::kBreak;
  if (starts_python_word(text, "continue")) return Flow::kContinue;
  if (starts_python_word(text, "global")) {
    for (const std::string_view name : split_at_python_commas(text.substr(6))) {
      frames_[here_].global_names.emplace(name);
    }
  } else if (starts_any(text, {"import", "from"})) {
    import_names(text);
  } else if (!is_noop_python_statement(text)) {
    const PythonAssignment set = python_assignment(text);
    if (set.value) {
      assign(set, line);
    } else {
      expression(line);
      if (starts_any(text, {"sys.exit", "exit"})) return Flow::kReturn;
    }
  }
  return Flow::kNext;
}

/// Evaluates an expression statement for its effects.
void PythonProgram::expression(const PythonStatement& line) {
  const PythonObject value = evaluate_program_expression(line.text, line.line);
  if (!value.open()) return;
  host_.note_skipped_expression(line.text.substr(0, line.text.find('(')), line.text,
                                recorded_line(line.line));
}

void PythonProgram::assign(const PythonAssignment& set, const PythonStatement& line) {
  // Inside brackets the value can begin on a line below the name.
  const auto before =
      line.text.substr(0, static_cast<std::size_t>(set.value->data() - line.text.data()));
  const auto down = static_cast<std::uint32_t>(std::ranges::count(before, '\n'));
  PythonObject value = evaluate_program_expression(*set.value, line.line + down);
  if (set.target.ends_with(']') && !set.target.starts_with('[')) {
    return assign_item(set.target, line, value);
  }
  if (!set.sign.empty()) value = changed(set, line, std::move(value));
  add_python_interpretation_effort(python_value_size(value), line.line);
  assign_python_targets(set.target, value, *this);
}

/// Returns the new value in "target += value".
PythonObject PythonProgram::changed(const PythonAssignment& set, const PythonStatement& line,
                                    PythonObject value) {
  const std::uint32_t at = recorded_line(line.line);
  PythonObject old = this->value(std::string(set.target), at);
  if (!old.is(ObjectKind::kList) || set.sign != "+") {
    PythonObject made = python_operator_result(set.sign, old, value);
    if (made.is(ObjectKind::kUnknown)) made.said = std::string(line.text);
    made.line = at;
    return made;
  }
  call_python_builtin_method(old, "extend", {{std::move(value)}, {}, at});
  return old;
}

/// Interprets an assignment to an item, "a[key] = value".
void PythonProgram::assign_item(std::string_view target, const PythonStatement& line,
                                const PythonObject& value) {
  std::size_t open = target.find('[');
  while (closing_python_bracket_position(target, open) + 1 < target.size()) {
    open = target.find('[', open + 1);
  }
  if (open == std::string_view::npos) return;
  const PythonObject owner = evaluate_program_expression(target.substr(0, open), line.line);
  const PythonObject key =
      evaluate_program_expression(target.substr(open + 1, target.size() - open - 2), line.line);
  if (owner.is(ObjectKind::kRecord) && key.is(ObjectKind::kText)) {
    return owner.body->set(key.text, value);
  }
  host_.note_skipped_expression(target, line.text, recorded_line(line.line));
  if (!owner.is(ObjectKind::kList) || !key.is(ObjectKind::kInteger)) return;
  auto& items = owner.body->items;
  const auto size = static_cast<std::int64_t>(items.size());
  const std::int64_t place = key.number < 0 ? size + key.number : key.number;
  if (place >= 0 && place < size) items[static_cast<std::size_t>(place)] = copy_python_value(value);
}

PythonProgram::Flow PythonProgram::loop(std::string_view text, const PythonStatement& line,
                                        Lines body) {
  const std::string_view head = head_behind(text, 3);
  const std::size_t in = find_python_operator(head, " in ");
  if (in == std::string_view::npos) return Flow::kNext;
  const std::string_view targets = head.substr(0, in);
  auto items =
      python_loop_items(evaluate_program_expression(trimmed(head.substr(in + 4)), line.line));
  if (!items) {
    pass_over(line, body);
    return Flow::kNext;
  }
  for (const PythonObject& item : *items) {
    assign_python_targets(targets, item, *this);
    const Flow flow = block(line, body);
    if (flow == Flow::kReturn) return Flow::kReturn;
    if (flow == Flow::kBreak) break;
  }
  return Flow::kNext;
}

/// Interprets a block that always runs exactly once, such as that of `with`.
PythonProgram::Flow PythonProgram::around(std::string_view text, const PythonStatement& line,
                                          Lines body) {
  if (starts_python_word(text, "with")) {
    const std::string_view head = head_behind(text, 4);
    const std::size_t as = find_python_operator(head, " as ");
    const PythonObject held = evaluate_program_expression(trimmed(head.substr(0, as)), line.line);
    if (as != std::string_view::npos) assign_python_targets(head.substr(as + 4), held, *this);
  }
  return block(line, body) == Flow::kReturn ? Flow::kReturn : Flow::kNext;
}

/// Interprets the branch of "if", "elif", "else" that is taken. If a condition is unknown, skips
/// this branch and all later ones.
PythonProgram::Flow PythonProgram::conditional(Lines lines, std::size_t& at) {
  Flow flow = Flow::kNext;
  bool open = false;
  bool taken = false;
  const std::uint32_t indent = lines[at].indent;
  for (bool first = true; at < lines.size() && lines[at].indent == indent; first = false) {
    const PythonStatement& head = lines[at];
    const bool start = starts_python_word(head.text, "if");
    if (first != start || (!start && !starts_any(head.text, {"elif", "else"}))) break;
    const std::size_t end = end_of_python_block(lines, at);
    const Lines body = lines.subspan(at + 1, end - at - 1);
    at = end;
    if (taken) continue;
    const auto holds = open ? std::nullopt : condition(head);
    open = !holds;
    taken = holds.value_or(false);
    if (taken) flow = block(head, body);
    if (open) pass_over(head, body);
  }
  return flow;
}

/// Returns whether the branch of an "if", "elif" or "else" is taken if no branch before it was;
/// nullopt: unknown.
std::optional<bool> PythonProgram::condition(const PythonStatement& head) {
  if (starts_python_word(head.text, "else")) return true;
  const std::size_t word = starts_python_word(head.text, "if") ? 2 : 4;
  return python_truth(evaluate_program_expression(head_behind(head.text, word), head.line));
}

/// Tells the host about the names that a skipped block would set.
void PythonProgram::pass_over(const PythonStatement& head, Lines block) {
  const PythonStatement same = same_line(head);
  if (!same.text.empty()) note_passed(same, head);
  for (const PythonStatement& line : block) note_passed(line, head);
}

void PythonProgram::note_passed(const PythonStatement& line, const PythonStatement& head) {
  add_python_interpretation_effort(1, line.line);
  if (is_noop_python_statement(line.text)) return;
  const std::string said = fmt::format("{}  [{}]", line.text, head.text);
  if (starts_python_word(line.text, "return"))
    host_.note_skipped_expression("return", said, recorded_line(line.line));
  const PythonAssignment set = python_assignment(line.text);
  if (!set.value || !is_dotted_python_name(set.target)) return;
  const std::string variable(set.target.substr(0, set.target.find('.')));
  if (frames_[here_].names.contains(variable)) {
    host_.note_skipped_expression(set.target, said, recorded_line(line.line));
  }
}

}  // namespace stepwright::launch_scripts
