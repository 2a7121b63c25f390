#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "stepwright/launch_scripts/shell/format.h"
#include "stepwright/launch_scripts/shell/reader.h"

namespace stepwright::launch_scripts {
namespace {

constexpr std::size_t kMostIndexed = 10'000;

ShellWord word_of(std::string text, ShellPosition place) {
  return {.text = std::move(text), .line = place.line, .file = place.file};
}

/// Splits a line at the characters `marks` into at most `most` parts, the last of which is the
/// rest. `blanks`: repeated marks count as one.
std::vector<std::string> parts_by(std::string_view text, std::string_view marks, bool blanks,
                                  std::size_t most) {
  const auto pass_blanks = [&] {
    if (!blanks) return;
    text.remove_prefix(std::min(text.find_first_not_of(marks), text.size()));
  };
  std::vector<std::string> parts;
  pass_blanks();
  while (!text.empty() || parts.empty()) {
    const std::size_t end = parts.size() + 1 < most ? text.find_first_of(marks) : text.npos;
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
    pass_blanks();
  }
  return parts;
}

/// True if a word of an array can be several elements: an unquoted command or variable of unknown
/// text.
bool may_be_several(const UnexpandedShellWord& term, const std::vector<ShellWord>& words) {
  if (term.pieces.size() != 1 || words.size() != 1) return false;
  const ShellWordPiece& piece = term.pieces.front();
  const std::string& text = words.front().text;
  const bool filled =
      piece.kind == ShellWordPiece::Kind::kCommand || piece.kind == ShellWordPiece::Kind::kVariable;
  return filled && !piece.quoted && text.starts_with(kUnknownMarkBegin) &&
         text.find(kUnknownMarkEnd) == text.size() - 1;
}

}  // namespace

ShellExitStatus ShellInterpreter::simple(const ShellNode& node) {
  Words words = expansion_.expand_to_shell_words(node.words);
  if (!words.empty()) return command(node, std::move(words));
  for (const ShellAssignment& one : node.assignments) assign(one);
  return {};
}

ShellExitStatus ShellInterpreter::command(const ShellNode& node, Words words) {
  static constexpr std::array<std::string_view, 6> kFront = {"exec",  "command", "builtin",
                                                             "nohup", "time",    "sudo"};
  const auto program = std::ranges::find_if_not(
      words, [&](const ShellWord& word) { return is_one_of(word.text, kFront); });
  if (program == words.end()) return {};
  words.erase(words.begin(), program);
  if (const auto status = flow_builtin(words)) return *status;
  if (const auto status = builtin(node, words)) return *status;
  const auto function = functions_.find(words.front().text);
  if (function != functions_.end()) {
    for (const ShellAssignment& one : node.assignments) assign(one);
    return call(*function->second.body, function->second.file, words);
  }
  return start(node, std::move(words));
}

ShellExitStatus ShellInterpreter::call(const ShellNode& function, std::uint32_t file,
                                       const Words& words) {
  ShellArguments before = std::exchange(variables_.arguments, texts_of_words_from(words, 1));
  const std::uint32_t caller = expansion_.file();
  variables_.begin_function_call();
  expansion_.set_current_script_file(file);
  const ShellExitStatus status = run(function);
  expansion_.set_current_script_file(caller);
  variables_.leave();
  budget_.count_processed_characters(variables_.copied_characters_since_last_call(),
                                     place(function.line));
  variables_.arguments = std::move(before);
  if (flow_ == Flow::kReturn) flow_ = Flow::kNext;
  return status;
}

/// Runs the builtins that change the flow of control, such as `exit` and `return`.
std::optional<ShellExitStatus> ShellInterpreter::flow_builtin(const Words& words) {
  const std::string& name = words.front().text;
  if (name == "exit") {
    flow_ = Flow::kExit;
    script_.ended = words.front().line;
  }
  if (name == "return") flow_ = Flow::kReturn;
  if (name == "break") flow_ = Flow::kBreak;
  if (name == "continue") flow_ = Flow::kContinue;
  if (flow_ != Flow::kNext) return ShellExitStatus{.ok = words.size() < 2 || words[1].text == "0"};
  if (name == "true" || name == ":") return ShellExitStatus{};
  if (name == "false") return ShellExitStatus{.ok = false};
  if (name == "[" || name == "test") return bracket(words);
  if (name == "getopts") {
    const bool none = variables_.arguments.size() == 0;
    leave_open(words, none ? words.size() : 2, words.front().line);
    return ShellExitStatus{.ok = false, .known = none, .open = {"getopts"}};
  }
  return std::nullopt;
}

std::optional<ShellExitStatus> ShellInterpreter::builtin(const ShellNode& node,
                                                         const Words& words) {
  static constexpr std::array<std::string_view, 5> kDeclare = {"export", "declare", "local",
                                                               "readonly", "typeset"};
  static constexpr std::array<std::string_view, 3> kRead = {"read", "mapfile", "readarray"};
  static constexpr std::array<std::string_view, 4> kWrite = {"cat", "echo", "printf", "tee"};
  const std::string& name = words.front().text;
  if (is_one_of(name, kDeclare)) {
    declare(node, words);
  } else if (name == "unset") {
    for (const ShellWord& word : words) variables_.unset(word.text);
  } else if (name == "shift") {
    variables_.arguments.drop_first_arguments(
        words.size() < 2 ? 1 : std::strtoul(words[1].text.c_str(), nullptr, 10));
  } else if (name == "set") {
    set_arguments(words);
  } else if (name == "let") {
    ShellExitStatus last;
    for (std::size_t i = 1; i < words.size(); ++i) {
      last = arithmetic(words[i].text, words[i].text, node.line);
    }
    return last;
  } else if (name == "eval") {
    run_text(join_shell_words({words.begin() + 1, words.end()}), node.line);
  } else if ((name == "source" || name == ".") && words.size() > 1) {
    go_on_with({.path = words[1].text,
                .arguments = texts_of_words_from(words, 2),
                .same_shell = true,
                .line = node.line});
  } else if (name == "read" && read_words(node, words)) {
    return ShellExitStatus{};
  } else if (is_one_of(name, kRead)) {
    if (name != "read") {
      read_lines(node, words);
      return ShellExitStatus{};
    }
    const bool array = std::ranges::any_of(words, [](const ShellWord& word) {
      return word.text.starts_with('-') && word.text.ends_with('a');
    });
    const bool text = !array && node.input && words.back().text.front() != '-';
    leave_open(words, 1, node.line, array);
    if (text)
      variables_.set_text(words.back().text, expansion_.text(*node.input), place(node.line));
    return ShellExitStatus{.ok = false, .known = false, .open = {name}};
  } else if (name == "printf" && words.size() > 3 && words[1].text == "-v") {
    print_into(words);
  } else if (is_one_of(name, kWrite)) {
    write_file(node, words);
  } else {
    return std::nullopt;
  }
  return ShellExitStatus{};
}

/// Runs `read -r A B <<< "x y"`: splits one known line by IFS, and gives the last name the rest.
/// Returns false if the line is not known.
bool ShellInterpreter::read_words(const ShellNode& node, const Words& words) {
  std::vector<std::string> names;
  bool array = false;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (is_shell_name(words[i].text)) {
      names.push_back(words[i].text);
    } else if (words[i].text == "-ra" || words[i].text == "-a") {
      array = true;
    } else if (words[i].text != "-r") {
      return false;
    }
  }
  if (!node.input || names.empty() || (array && names.size() != 1)) return false;
  std::string text = expansion_.text(*node.input);
  while (text.ends_with('\n')) text.pop_back();
  if (text.find('\n') != std::string::npos || text.find(kUnknownMarkBegin) != std::string::npos)
    return false;
  std::string marks = variables_.text("IFS").value_or(" \t");
  for (const ShellAssignment& one : node.assignments) {
    if (one.name == "IFS" && !one.array) marks = expansion_.text(one.values.front());
  }
  const bool blanks = marks.find(' ') != std::string::npos;
  const std::size_t most = array ? text.size() + 1 : names.size();
  std::vector<std::string> parts = parts_by(text, marks, blanks, most);
  if (array) {
    ShellVariableValue value{.array = true};
    for (std::string& part : parts) {
      value.elements.push_back(word_of(std::move(part), place(node.line)));
    }
    variables_.set(names.front(), std::move(value));
    return true;
  }
  parts.resize(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    budget_.count_expanded_word(parts[i], place(node.line));
    variables_.set_text(names[i], parts[i], place(node.line));
  }
  return true;
}

/// Runs `mapfile -t NAME < <(COMMAND)`: one element for each line, or one unknown element if the
/// lines are unknown.
void ShellInterpreter::read_lines(const ShellNode& node, const Words& words) {
  const std::string name = words.size() > 1 && is_shell_name(words.back().text)
                               ? words.back().text
                               : std::string("MAPFILE");
  std::optional<std::string> text;
  if (node.input) text = expansion_.text(*node.input);
  if (node.source_file) {
    const bool command = node.source_file->pieces.size() == 1 &&
                         node.source_file->pieces.front().kind == ShellWordPiece::Kind::kCommand;
    text = command ? expansion_.text(*node.source_file) : text_of_file(node, {});
  }
  const std::string lines = text.value_or(wrap_unknown_script_text("$" + name));
  ShellVariableValue value{.array = true, .open_count = !is_fully_known_script_text(lines)};
  if (value.open_count) {
    script_.holders.try_emplace(text_without_placeholders(lines), name);
    value.elements.push_back(word_of(lines, place(node.line)));
  }
  for (std::size_t at = 0; !value.open_count && at < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', at), lines.size());
    budget_.count_expanded_word(std::string_view(lines).substr(at, end - at), place(node.line));
    value.elements.push_back(word_of(lines.substr(at, end - at), place(node.line)));
    at = end + 1;
  }
  variables_.set(name, std::move(value));
}

/// Runs `printf -v NAME FORMAT ARGUMENTS`; the variable is unknown if the printed text is.
void ShellInterpreter::print_into(const Words& words) {
  const std::uint32_t line = words.front().line;
  const std::optional<std::string> text =
      shell_printf_text(words[3].text, texts_of_words_from(words, 4));
  if (!text) return leave_open({words.front(), words[2]}, 1, line);
  budget_.count_expanded_word(*text, place(line));
  variables_.set_text(words[2].text, *text, place(line));
}

ShellExitStatus ShellInterpreter::bracket(const Words& words) {
  std::vector<ShellTestWord> inside;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& text = words[i].text;
    if (i + 1 == words.size() && words.front().text == "[" && text == "]") break;
    // In `[ $UNSET = 1 ]` bash has no first word, and the test fails as with an empty one.
    inside.push_back({text, text, true});
  }
  return shell_test_outcome(
      inside, [&](const std::string& name) { return variables_.find(name) != nullptr; });
}

void ShellInterpreter::assign(const ShellAssignment& one) {
  if (one.array) return assign_array(one);
  if (one.index) return assign_element(one);
  std::string value = expansion_.text(one.values.front());
  if (one.append) {
    const ShellVariableValue* old = variables_.find(one.name);
    if (old != nullptr && old->array && !old->elements.empty()) {
      if (ShellVariableValue* longer = variables_.editable_variable_value(one.name))
        longer->elements.front().text += value;
      return;
    }
    value = variables_.text(one.name).value_or("") + value;
  }
  budget_.count_expanded_word(value, place(one.line));
  if (value.size() > 1 && value.front() == kUnknownMarkBegin &&
      value.find(kUnknownMarkEnd) == value.size() - 1) {
    script_.holders.try_emplace(text_without_placeholders(value), one.name);
  }
  variables_.set_text(one.name, value, place(one.line));
}

void ShellInterpreter::assign_array(const ShellAssignment& one) {
  ShellVariableValue value{.array = true};
  for (const UnexpandedShellWord& term : one.values) {
    const std::string_view plain =
        term.pieces.empty() ? std::string_view() : std::string_view(term.pieces.front().text);
    const std::size_t close = plain.find("]=");
    if (plain.starts_with('[') && close != std::string_view::npos) {
      const std::string whole = expansion_.text(term);
      const std::size_t end = whole.find("]=");
      value.keyed[whole.substr(1, end - 1)] = word_of(whole.substr(end + 2), place(term.line));
      continue;
    }
    Words words = expansion_.expand_to_shell_words(term);
    value.open_count = value.open_count || may_be_several(term, words);
    std::ranges::move(words, std::back_inserter(value.elements));
  }
  ShellVariableValue* const longer =
      one.append ? variables_.editable_variable_value(one.name) : nullptr;
  if (longer == nullptr) return variables_.set(one.name, std::move(value));
  longer->array = true;
  longer->open_count = longer->open_count || value.open_count;
  std::ranges::move(value.elements, std::back_inserter(longer->elements));
  for (auto& [key, word] : value.keyed) longer->keyed[key] = std::move(word);
}

/// Runs an assignment to an array element: `NAME[index]=value`.
void ShellInterpreter::assign_element(const ShellAssignment& one) {
  ShellWord word = word_of(expansion_.text(one.values.front()), place(one.line));
  const ShellVariableValue* const old = variables_.find(one.name);
  const bool number =
      !one.index->empty() && one.index->find_first_not_of("0123456789$") == std::string::npos;
  const bool counts = number || old == nullptr || old->keyed.empty();
  const auto at = counts ? expansion_.value_of_arithmetic(*one.index, one.line) : std::nullopt;
  const bool by_number =
      number && at && at->value >= 0 && static_cast<std::size_t>(at->value) < kMostIndexed;
  const std::string key = by_number ? std::string()
                                    : expansion_.text(parse_shell_word(
                                          *one.index, script_.files[expansion_.file()], one.line));
  ShellVariableValue* const value = variables_.editable_variable_value(one.name);
  if (value == nullptr) return variables_.set(one.name, {.array = true});
  value->array = true;
  if (!by_number) {
    value->keyed[key] = std::move(word);
    return;
  }
  const auto index = static_cast<std::size_t>(at->value);
  while (value->elements.size() <= index) {
    budget_.count_expanded_word("", place(one.line));
    value->elements.push_back(word_of("", place(one.line)));
  }
  value->elements[index] = std::move(word);
}

void ShellInterpreter::declare(const ShellNode& node, const Words& words) {
  const std::string& kind = words.front().text;
  bool exports = kind == "export";
  bool refers = false;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i].text;
    if (word.starts_with('-')) {
      exports = exports || word.find('x') != std::string::npos;
      refers = refers || (!exports && word.find('n') != std::string::npos);
      continue;
    }
    if (kind == "local") variables_.make_local(word);
    if (exports && is_shell_name(word)) variables_.mark_exported(word);
  }
  for (const ShellAssignment& one : node.assignments) {
    if (kind == "local") variables_.make_local(one.name);
    if (refers && !one.array) {
      variables_.set_shell_name_reference(one.name, expansion_.text(one.values.front()));
      continue;
    }
    assign(one);
    if (exports) variables_.mark_exported(one.name);
  }
}

/// Runs `set -- a b`, which replaces the arguments.
void ShellInterpreter::set_arguments(const Words& words) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i].text == "--") {
      variables_.arguments = texts_of_words_from(words, i + 1);
      return;
    }
  }
}

/// Sets variables to unknown values, as arrays if `array` is true.
void ShellInterpreter::leave_open(const Words& words, std::size_t from, std::uint32_t line,
                                  bool array) {
  for (std::size_t i = from; i < words.size(); ++i) {
    const std::string& name = words[i].text;
    if (!is_shell_name(name)) continue;
    variables_.set(name, {.elements = {word_of(wrap_unknown_script_text("$" + name), place(line))},
                          .array = array,
                          .open_count = array});
  }
}

/// Records a text that is written to a file, because the script can run that file later.
void ShellInterpreter::write_file(const ShellNode& node, const Words& words) {
  const std::string& name = words.front().text;
  std::optional<std::string> text;
  if (node.input) text = expansion_.text(*node.input);
  if (!text && name == "cat" && node.output) text = text_of_file(node, words);
  if (!text && name == "echo") text = echoed(words);
  if (!text && name == "printf" && words.size() > 1) {
    text = shell_printf_text(words[1].text, texts_of_words_from(words, 2));
  }
  if (!text) return record_copy(node, words);
  std::string path;
  bool appends = node.appends;
  if (node.output) path = text_without_placeholders(expansion_.text(*node.output));
  if (name == "tee" && words.size() > 1) {
    path = text_without_placeholders(words.back().text);
    appends = words[1].text == "-a";
  }
  if (path.empty()) return;
  ShellWrittenFile& made = written_[path_base_name(path)];
  if (!appends || made.line == 0) {
    made = {.line = node.input ? node.input->line : node.line, .file = expansion_.file()};
  }
  made.text += *text;
}

/// Records the file that a command makes of another one, or changes: `cp A B`, `envsubst < A > B`,
/// `sed EXPR A > B`, `sed -i EXPR A`.
void ShellInterpreter::record_copy(const ShellNode& node, const Words& words) {
  static constexpr std::array<std::string_view, 3> kCopies = {"cp", "mv", "ln"};
  static constexpr std::array<std::string_view, 4> kFilters = {"cat", "sed", "envsubst", "yq"};
  const auto name_in = [](const std::string& text) {
    return path_base_name(text_without_placeholders(text));
  };
  const std::string program = path_base_name(words.front().text);
  const bool copies = is_one_of(program, kCopies);
  if (!copies && !is_one_of(program, kFilters)) return;
  std::vector<std::string> named;
  bool in_place = false;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& text = words[i].text;
    in_place = in_place || text.starts_with("-i") || text.starts_with("--in-place");
    if (!text.starts_with('-')) named.push_back(name_in(text));
  }
  if (node.source_file) named.push_back(name_in(expansion_.text(*node.source_file)));
  if (named.empty() || (copies && named.size() != 2)) return;
  std::string source = copies ? named.front() : named.back();
  std::string made = in_place ? source : "";
  if (copies) made = named.back();
  if (!copies && node.output) made = name_in(expansion_.text(*node.output));
  if (source.empty() || made.empty()) return;
  if (const auto text = written_.find(source); text != written_.end()) {
    written_[made] = text->second;
    return;
  }
  const auto first = script_.copies.find(source);
  if (first != script_.copies.end() && !in_place) source = first->second.source;
  script_.copies[made] = {std::move(source), program, node.line, expansion_.file()};
}

}  // namespace stepwright::launch_scripts
