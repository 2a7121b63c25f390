#include "stepwright/launch_scripts/shell/reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/launch_scripts/shell/pattern.h"

namespace stepwright::launch_scripts {
namespace {

using NodeKind = ShellNode::Kind;
constexpr std::size_t kLongestScript = std::size_t{1} << 20;
constexpr int kDeepestSteps = 150;
/// Iterations of an endless loop that are interpreted; all start the same programs.
constexpr int kMostTurns = 50;
/// Effort counted for looking at a command that is not run, in characters.
constexpr std::size_t kWorkOfLook = 150;

std::vector<std::string> names_of(std::span<const ShellSource> sources) {
  std::vector<std::string> names;
  for (const ShellSource& source : sources) names.push_back(source.name);
  return names;
}

void check_source(const ShellSource& source) {
  if (source.text.size() > kLongestScript) {
    fail_input(fmt::format("{}: is larger than 1 MiB", source.name));
  }
  const auto strange = [](char c) {
    return c == '\0' || c == kUnknownMarkBegin || c == kUnknownMarkEnd;
  };
  const auto bad = std::ranges::find_if(source.text, strange);
  if (bad == source.text.end()) return;
  const auto line = 1 + std::count(source.text.begin(), bad, '\n');
  fail_input(fmt::format("{}:{}: contains a control character ({}), so it is not a shell script",
                         source.name, line, static_cast<int>(*bad)));
}

/// True if a command is only a test.
bool only_tests(const ShellNode& node) {
  if (node.kind == NodeKind::kTest || node.kind == NodeKind::kArithmetic) return true;
  if (node.kind == NodeKind::kNot) return only_tests(node.children.front());
  if (node.kind != NodeKind::kSimple || node.words.empty()) return false;
  return node.words.front().unquoted_plain_text() == "[" ||
         node.words.front().unquoted_plain_text() == "test";
}

/// Removes from unknown parts of a text the characters that would end a YAML or JSON value. In
/// JSON, puts an unknown part outside of quotes into quotes.
std::string plain_places(std::string text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool json = first != std::string::npos && text[first] == '{';
  std::string plain;
  bool open = false;
  bool quoted = false;
  for (const char c : text) {
    const bool ends_value = c == '\n' || c == ':' || c == '#' || c == '"';
    if (c == kUnknownMarkBegin || c == kUnknownMarkEnd) open = c == kUnknownMarkBegin;
    if (c == '"' && !open) quoted = !quoted;
    if (json && !quoted && c == kUnknownMarkBegin) plain += '"';
    plain += open && ends_value ? ' ' : c;
    if (json && !quoted && c == kUnknownMarkEnd) plain += '"';
  }
  return plain;
}

/// True if the last command of a pipe is a shell that can read commands from its input: `bash`,
/// `kubectl exec POD -- /bin/bash`.
bool reads_commands(const ShellNode& node) {
  static constexpr std::string_view kShells[] = {"bash", "sh", "zsh", "dash"};
  if (node.kind != NodeKind::kSimple || node.input) return false;
  return std::ranges::any_of(node.words, [](const UnexpandedShellWord& term) {
    return is_one_of(path_base_name(term.unquoted_plain_text()), kShells);
  });
}

}  // namespace

ShellInterpreter::ShellInterpreter(std::span<const ShellSource> sources,
                                   const ShellAssumptions& given)
    : sources_(sources),
      given_(given),
      script_{.files = names_of(sources)},
      budget_(script_.files),
      expansion_(variables_, budget_, script_.files,
                 [this](const std::string& command) { return printed(command); }) {
  for (const ShellSource& source : sources) check_source(source);
}

ShellScriptResult ShellInterpreter::read() {
  variables_.zero = sources_.front().name;
  std::vector<std::string> arguments;
  for (const auto& [name, value] : given_.variables) {
    if (is_shell_name(name)) {
      variables_.set_fixed_variable(name, value);
    } else {
      const auto number = static_cast<std::size_t>(std::max(1, std::stoi(name)));
      while (arguments.size() < number) {
        arguments.push_back(wrap_unknown_script_text("$" + std::to_string(arguments.size() + 1)));
      }
      arguments[number - 1] = value;
    }
  }
  variables_.arguments = std::move(arguments);
  enter_job(sources_.front().text, {});
  run_source(0);
  script_.effort = budget_.interpretation_effort();
  for (const auto& [text, open] : expansion_.unknown_variables_of_arithmetic()) {
    const auto holder = script_.holders.find(open);
    const std::string name = holder == script_.holders.end() ? open : holder->second;
    // A variable's name is preferred to a command, which a person cannot set.
    if (is_shell_name(name) || name.find_first_not_of("0123456789") == std::string::npos) {
      script_.holders[text] = name;
    } else {
      script_.holders.try_emplace(text, name);
    }
  }
  for (auto& [name, made] : written_) {
    made.open = unknown_parts_of(made.text);
    made.text = text_without_placeholders(plain_places(std::move(made.text)));
    script_.written.insert({name, std::move(made)});
  }
  return std::move(script_);
}

ShellExitStatus ShellInterpreter::run(const ShellNode& node) {
  if (flow_ != Flow::kNext) return {};
  budget_.step(place(node.line));
  if (++depth_ > kDeepestSteps) {
    budget_.fail(place(node.line), fmt::format("commands go more than {} deep", kDeepestSteps));
  }
  ShellExitStatus status = run_kind(node);
  --depth_;
  return status;
}

ShellExitStatus ShellInterpreter::run_kind(const ShellNode& node) {
  switch (node.kind) {
    case NodeKind::kSimple: return simple(node);
    case NodeKind::kList: return list(node);
    case NodeKind::kChain: return chain(node);
    case NodeKind::kNot: return opposite(run(node.children.front()));
    case NodeKind::kPipe: return pipe(node);
    case NodeKind::kSubshell: return apart(node.children.front());
    case NodeKind::kIf: return condition(node);
    case NodeKind::kFor: return for_each(node);
    case NodeKind::kCount: return count(node);
    case NodeKind::kWhile: return loop(node);
    case NodeKind::kCase: return choice(node);
    case NodeKind::kFunction:
      functions_[node.texts.front()] = {&node.children.front(), expansion_.file()};
      return {};
    case NodeKind::kTest: return test(node);
    case NodeKind::kArithmetic: return arithmetic(node.texts.front(), node.source, node.line);
  }
  return {};
}

ShellExitStatus ShellInterpreter::list(const ShellNode& node) {
  ShellExitStatus last;
  for (const ShellNode& child : node.children) {
    last = run(child);
    if (flow_ != Flow::kNext) break;
  }
  return last;
}

ShellExitStatus ShellInterpreter::chain(const ShellNode& node) {
  ShellExitStatus left = run(node.children.front());
  for (std::size_t i = 0; i < node.joints.size() && flow_ == Flow::kNext; ++i) {
    left = joined_commands(node, i, std::move(left));
  }
  return left;
}

/// Runs the command after operator number `joint` (`&&` or `||`) of a chain, if the operator lets
/// it run. `left` is the status of the commands before; returns the status of both sides.
ShellExitStatus ShellInterpreter::joined_commands(const ShellNode& node, std::size_t joint,
                                                  ShellExitStatus left) {
  const auto [needs_both, source_end] = node.joints[joint];
  const ShellNode& right = node.children[joint + 1];
  if (left.known && left.ok != needs_both) return left;
  if (only_tests(right)) {
    ShellExitStatus tested = run(right);
    return needs_both ? both(std::move(left), std::move(tested))
                      : either(std::move(left), std::move(tested));
  }
  const ShellBranchCondition condition{std::string_view(node.source).substr(0, source_end),
                                       node.line};
  const bool ends = ends_script(right);
  if (ends && needs_both && left.ok) leave_count_open(condition, left);
  const bool ok = decide(condition, left, needs_both && ends, !needs_both && ends);
  return ok == needs_both ? run(right) : ShellExitStatus{.ok = ok, .known = left.known};
}

ShellExitStatus ShellInterpreter::pipe(const ShellNode& node) {
  ShellExitStatus last;
  std::optional<std::string> text;
  const bool starts = reads_commands(node.children.back());
  for (const ShellNode& child : node.children) {
    if (starts && &child == &node.children.back() && text) {
      ShellNode told = child;
      told.input =
          UnexpandedShellWord{.pieces = {{.quoted = true, .text = *text}}, .line = child.line};
      return run(told);
    }
    last = child.kind == NodeKind::kSimple ? run(child) : apart(child);
    if (starts) text = passed_text(child, std::move(text));
  }
  return last;
}

/// Runs commands in a subshell, which does not change the script's variables.
ShellExitStatus ShellInterpreter::apart(const ShellNode& node) {
  variables_.enter_subshell();
  const ShellExitStatus status = run(node);
  variables_.leave_subshell();
  budget_.count_processed_characters(variables_.copied_characters_since_last_call(),
                                     place(node.line));
  if (flow_ != Flow::kBreak && flow_ != Flow::kContinue) flow_ = Flow::kNext;
  return status;
}

ShellExitStatus ShellInterpreter::condition(const ShellNode& node) {
  ShellExitStatus status = run(node.children[0]);
  if (flow_ != Flow::kNext) return status;
  const bool otherwise = node.children.size() > 2;
  const bool yes_ends = ends_script(node.children[1]);
  const ShellBranchCondition condition{node.source, node.line};
  if (yes_ends && status.ok) leave_count_open(condition, status);
  const bool yes = decide(condition, status, yes_ends, otherwise && ends_script(node.children[2]));
  if (yes) return run(node.children[1]);
  return otherwise ? run(node.children[2]) : ShellExitStatus{};
}

/// Makes a true condition on the number of arguments undetermined if its branch ends the script:
/// the number is unknown, and a script that needs arguments is started with them.
void ShellInterpreter::leave_count_open(const ShellBranchCondition& condition,
                                        ShellExitStatus& status) {
  const bool counts = condition.source.find("$#") != std::string_view::npos ||
                      condition.source.find("${#}") != std::string_view::npos ||
                      condition.source.find("$*") != std::string_view::npos;
  if (!status.known || !counts) return;
  status.known = false;
  status.open = {"$#"};
}

/// True if a loop ends after the current iteration.
bool ShellInterpreter::leaves_loop() {
  if (flow_ == Flow::kContinue) flow_ = Flow::kNext;
  if (flow_ == Flow::kNext) return false;
  if (flow_ == Flow::kBreak) flow_ = Flow::kNext;
  return true;
}

ShellExitStatus ShellInterpreter::for_each(const ShellNode& node) {
  const std::string name(node.words.front().unquoted_plain_text());
  Words words;
  for (std::size_t i = 1; i < node.words.size(); ++i) {
    for (ShellWord& word : expansion_.expand_to_shell_words(node.words[i]))
      words.push_back(std::move(word));
  }
  for (const ShellWord& word : words) {
    variables_.set(name, {.elements = {word}});
    run(node.children.front());
    if (leaves_loop()) break;
  }
  return {};
}

ShellExitStatus ShellInterpreter::count(const ShellNode& node) {
  expansion_.value_of_arithmetic(node.texts[0], node.line);
  while (flow_ == Flow::kNext) {
    budget_.step(place(node.line));
    const auto goes_on = expansion_.value_of_arithmetic(node.texts[1], node.line);
    if (!goes_on || (goes_on->value == 0 && !node.texts[1].empty())) break;
    run(node.children.front());
    if (leaves_loop()) break;
    expansion_.value_of_arithmetic(node.texts[2], node.line);
  }
  return {};
}

ShellExitStatus ShellInterpreter::loop(const ShellNode& node) {
  const bool endless = node.source == "true" || node.source == ":" || node.source == "((1))";
  const std::size_t before = undetermined_;
  for (int turn = 0; flow_ == Flow::kNext; ++turn) {
    budget_.step(place(node.line));
    ShellExitStatus status = run(node.children[0]);
    if (flow_ != Flow::kNext) break;
    // An unknown condition ends the loop; else it would never end.
    if (!status.known) status.ok = false;
    const bool goes_on = decide({node.source, node.line}, status, false, false);
    // A body with undetermined conditions, such as `ps -p $PID`, may never end the loop.
    const bool open = endless || !status.known || undetermined_ != before;
    if (!goes_on || (turn >= kMostTurns && open)) break;
    run(node.children[1]);
    if (leaves_loop()) break;
  }
  return {};
}

ShellExitStatus ShellInterpreter::choice(const ShellNode& node) {
  const std::string text = expansion_.text(node.words.front());
  UndeterminedCondition open{
      .condition = node.source, .open = unknown_parts_of(text), .line = node.line};
  std::size_t taken = node.patterns.size();
  bool known = is_fully_known_script_text(text);
  for (std::size_t i = 0; i < node.patterns.size(); ++i) {
    std::vector<std::string> patterns;
    for (const UnexpandedShellWord& term : node.patterns[i]) {
      const std::string pattern = expansion_.expand_to_shell_pattern(term);
      known = known && (taken < i || is_fully_known_script_text(pattern));
      patterns.push_back(text_without_placeholders(pattern));
      if (taken > i &&
          matches_shell_pattern(without_unknown_parts(text), without_unknown_parts(pattern)))
        taken = i;
    }
    open.ways.push_back(fmt::format("{})", fmt::join(patterns, "|")));
  }
  if (!known) {
    open.taken = taken;
    const bool ends = taken < node.patterns.size() && ends_script(node.children[taken]);
    if (ends) open.taken = node.patterns.size();
    const bool always = std::ranges::find(open.ways, "*)") != open.ways.end();
    if (!always || ends) open.ways.emplace_back("no pattern");
    taken = way(std::move(open));
  }
  return taken < node.patterns.size() ? run(node.children[taken]) : ShellExitStatus{};
}

ShellExitStatus ShellInterpreter::test(const ShellNode& node) {
  std::vector<ShellTestWord> words;
  for (const UnexpandedShellWord& term : node.words) {
    const bool sign = !term.unquoted_plain_text().empty();
    const std::string pattern = expansion_.expand_to_shell_pattern(term);
    words.push_back({expansion_.text(term), pattern, sign});
  }
  return shell_test_outcome(
      words, [&](const std::string& name) { return variables_.find(name) != nullptr; });
}

ShellExitStatus ShellInterpreter::arithmetic(const std::string& text, const std::string& source,
                                             std::uint32_t line) {
  const auto value = expansion_.value_of_arithmetic(text, line);
  if (!value) return {.ok = false, .known = false, .open = {source}};
  return {.ok = value->value != 0, .known = value->known, .open = {source}};
}

/// Returns whether a condition counts as true. An undetermined branch that only ends the script is
/// not taken, because the script is known to run.
bool ShellInterpreter::decide(const ShellBranchCondition& condition, const ShellExitStatus& status,
                              bool yes_ends, bool no_ends) {
  if (status.known) return status.ok;
  UndeterminedCondition open{.condition = std::string(condition.source),
                             .open = status.open,
                             .ways = {"true", "false"},
                             .line = condition.line};
  open.taken = (status.ok && !yes_ends) || no_ends ? 0 : 1;
  return way(std::move(open)) == 0;
}

std::size_t ShellInterpreter::way(UndeterminedCondition open) {
  open.file = expansion_.file();
  ++undetermined_;
  budget_.count_condition_memory(open.condition, place(open.line));
  for (const std::string& one : open.open) budget_.count_condition_memory(one, place(open.line));
  const std::string key = fmt::format("{}:{:06}:{}", open.file, open.line, open.condition);
  const auto given = given_.ways.find(key);
  if (given != given_.ways.end() && given->second < open.ways.size()) open.taken = given->second;
  return script_.choices.try_emplace(key, std::move(open)).first->second.taken;
}

/// True if commands always end the script.
bool ShellInterpreter::ends_script(const ShellNode& node, int depth) {
  budget_.count_processed_characters(kWorkOfLook, place(node.line));
  if (node.kind == NodeKind::kList) {
    return std::ranges::any_of(node.children,
                               [&](const ShellNode& one) { return ends_script(one, depth); });
  }
  if (node.kind != NodeKind::kSimple || node.words.empty()) return false;
  const std::string name(node.words.front().unquoted_plain_text());
  if (name == "exit") return true;
  const auto function = functions_.find(name);
  return depth < 3 && function != functions_.end() &&
         ends_script(*function->second.body, depth + 1);
}

ShellScriptResult read_shell_scripts(std::span<const ShellSource> sources,
                                     const ShellAssumptions& given) {
  return ShellInterpreter(sources, given).read();
}

}  // namespace stepwright::launch_scripts
