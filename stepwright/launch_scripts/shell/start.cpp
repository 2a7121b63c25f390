#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "stepwright/core/scalar.h"
#include "stepwright/launch_scripts/shell/batch.h"
#include "stepwright/launch_scripts/shell/format.h"
#include "stepwright/launch_scripts/shell/reader.h"

namespace stepwright::launch_scripts {
namespace {

using NodeKind = ShellNode::Kind;
constexpr int kFilesDeep = 8;
constexpr std::size_t kMostKept = std::size_t{1} << 20;
/// Work that a look at one option of a batch system counts as, in characters.
constexpr std::size_t kWorkOfOption = 200;

bool is_shell(std::string_view word) {
  static constexpr std::array<std::string_view, 4> kShells = {"bash", "sh", "zsh", "dash"};
  return is_one_of(base_name(word), kShells);
}

bool is_script(std::string_view word) {
  static constexpr std::array<std::string_view, 5> kEndings = {".sh", ".bash", ".slurm", ".sbatch",
                                                               ".sub"};
  return std::ranges::any_of(kEndings, [&](std::string_view end) { return word.ends_with(end); }) &&
         word.find('=') == std::string_view::npos;
}

/// Files that no shell starts, though a script may write them.
bool is_data(std::string_view word) {
  static constexpr std::array<std::string_view, 6> kEndings = {".yaml",  ".yml",  ".json",
                                                               ".jsonl", ".toml", ".txt"};
  return std::ranges::any_of(kEndings, [&](std::string_view end) { return word.ends_with(end); });
}

/// Files that set up a shell, a virtual environment or modules, and no job.
bool sets_up_shell(std::string_view name) {
  static constexpr std::array<std::string_view, 12> kNames = {
      "activate",   ".bashrc", ".bash_profile", ".profile", "conda.sh",   "mamba.sh",
      "modules.sh", "lmod.sh", "profile",       "bash",     "setvars.sh", ".env"};
  return is_one_of(name, kNames);
}

/// Programs that do something with a file and do not start it.
bool only_handles(std::string_view program) {
  static constexpr std::array<std::string_view, 16> kPrograms = {
      "chmod", "cp",   "rm",  "mv",   "ls",   "touch", "scp",  "rsync",
      "tar",   "grep", "sed", "wget", "curl", "head",  "tail", "ln"};
  return is_one_of(base_name(program), kPrograms);
}

/// What `seq FIRST STEP LAST` prints.
std::optional<std::string> counted(const std::vector<ShellWord>& words) {
  constexpr std::int64_t kMost = 10'000;
  std::array<std::int64_t, 3> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const IntegerReading reading = read_integer(words[i].text);
    if (reading.status != IntegerReading::Status::kGood) return std::nullopt;
    numbers.at(i) = reading.value;
  }
  const auto [first, step, last] = numbers;
  if (step < 1 || first < -kMost || last > kMost * step) return std::nullopt;
  std::string text;
  for (std::int64_t i = first; i <= last; i += step) {
    text += fmt::format("{}{}", text.empty() ? "" : " ", i);
  }
  return text;
}

/// Programs that start a job.
bool is_launcher(std::string_view program) {
  static constexpr std::array<std::string_view, 10> kLaunchers = {
      "python", "python3", "torchrun", "accelerate", "deepspeed",
      "mpirun", "swift",   "megatron", "axolotl",    "llamafactory-cli"};
  return is_one_of(program, kLaunchers);
}

std::vector<std::string> texts(const std::vector<ShellWord>& words, std::size_t from) {
  std::vector<std::string> all;
  for (std::size_t i = from; i < words.size(); ++i) all.push_back(words[i].text);
  return all;
}

/// As a substitution takes what is printed.
std::string without_last_lines(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

/// The text as a program sees it: what is open, as it was written, and said to be open.
ShellWord told(ShellWord word) {
  word.open = open_places(word.text);
  word.text = as_written(word.text);
  return word;
}

}  // namespace

/// The variables that a program sees, with those that stand in front of it.
std::map<std::string, ShellWord> ShellReader::environment(const ShellNode& node) {
  std::map<std::string, ShellWord> seen = variables_.exported();
  for (const ShellAssignment& one : node.assignments) {
    if (one.array) continue;
    seen[one.name] = {.text = variables_.is_fixed(one.name) ? variables_.text(one.name).value_or("")
                                                            : expansion_.text(one.values.front()),
                      .line = one.line,
                      .file = expansion_.file()};
  }
  return seen;
}

ShellStatus ShellReader::start(const ShellNode& node, Words words) {
  // Where a program of Python begins, the words are its own.
  const auto program =
      std::ranges::find_if(words, [](const ShellWord& word) { return word.text.ends_with(".py"); });
  const auto front = static_cast<std::size_t>(program - words.begin());
  for (std::size_t i = 0; i < front && !only_handles(words.front().text); ++i) {
    if (is_shell(words[i].text)) return within_shell(node, words, i);
    // A file that a script wrote may be the value of an option: `--hostfile /tmp/hosts`.
    const bool option =
        i > 0 && words[i - 1].text.starts_with('-') && written_.contains(base_name(words[i].text));
    const bool ours = !option && !is_data(words[i].text) && has_file(base_name(words[i].text));
    if (ours || is_script(words[i].text)) return within_shell(node, words, i);
  }
  if (node.input && base_name(words.front().text) == "sbatch") {
    return within_shell(node, words, words.size());
  }
  // A program that is told something may be one that trains.
  const auto options =
      !node.assignments.empty() || std::ranges::any_of(words, [](const ShellWord& word) {
        return word.text.starts_with("--") || is_data(word.text);
      });
  ShellCommand command{.launchers = launchers_, .line = node.line, .file = expansion_.file()};
  if (options) command.environment = environment(node);
  for (auto& [name, value] : command.environment) {
    budget_.word(value.text, place(node.line));
    value = told(std::move(value));
  }
  for (const ShellWord& word : launchers_) budget_.word(word.text, place(node.line));
  for (const ShellWord& word : words) command.words.push_back(told(word));
  const std::string name = command.words.front().text;
  script_.commands.push_back(std::move(command));
  run_told_command(node, words);
  return {.known = false, .open = {name}};
}

/// `gcloud ... --command="python3 train.py ..."`: a program that has a command run elsewhere.
void ShellReader::run_told_command(const ShellNode& node, const Words& words) {
  static constexpr std::array<std::string_view, 4> kNames = {"--command", "--COMMAND", "--cmd",
                                                             "--entrypoint"};
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& text = words[i].text;
    const std::size_t equals = std::min(text.find('='), text.size());
    if (!is_one_of(std::string_view(text).substr(0, equals), kNames)) continue;
    const bool apart = equals == text.size();
    if (apart && i + 1 == words.size()) return;
    const std::string told = apart ? words[i + 1].text : text.substr(equals + 1);
    if (told.find_first_of(" \n") == std::string::npos) continue;
    in_shell_of_its_own(environment(node), {}, "bash", [&] { run_text(told, words[i].line); });
    return;
  }
}

/// `srun bash -c TEXT`, `bash FILE`, `srun FILE` or `sbatch` with a text as its input; `shell` is
/// the place of `bash` or of the file.
ShellStatus ShellReader::within_shell(const ShellNode& node, const Words& words,
                                      std::size_t shell) {
  const std::size_t outside = launchers_.size();
  for (std::size_t i = 0; i < shell; ++i) launchers_.push_back(told(words[i]));
  std::size_t at = shell;
  bool text = false;
  if (at < words.size() && is_shell(words[at].text)) {
    for (++at; at < words.size() && words[at].text.size() > 1 &&
               (words[at].text.front() == '-' || words[at].text.front() == '+');
         ++at) {
      text = text || (words[at].text[1] != '-' && words[at].text.find('c') != std::string::npos);
    }
  }
  std::map<std::string, ShellWord> seen = environment(node);
  // `docker run -e NAME=VALUE IMAGE bash -c TEXT`.
  for (std::size_t i = 0; i + 1 < shell; ++i) {
    if (words[i].text != "-e" && words[i].text != "--env") continue;
    const std::string& one = words[i + 1].text;
    const std::size_t equals = one.find('=');
    if (equals == std::string::npos || !is_shell_name(one.substr(0, equals))) continue;
    ShellWord value = words[i + 1];
    value.text.erase(0, equals + 1);
    seen[one.substr(0, equals)] = std::move(value);
  }
  if (at >= words.size() && node.input) {
    const std::string input = expansion_.text(*node.input);
    in_shell_of_its_own(seen, {}, "bash", [&] { run_batch(input, node.input->line); });
  }
  if (at < words.size()) {
    std::vector<std::string> arguments = texts(words, at + 1);
    if (text) {
      std::string zero = arguments.empty() ? std::string("bash") : arguments.front();
      if (!arguments.empty()) arguments.erase(arguments.begin());
      in_shell_of_its_own(seen, std::move(arguments), std::move(zero),
                          [&] { run_text(words[at].text, words[at].line); });
    } else {
      in_shell_of_its_own(seen, {}, words[at].text, [&] {
        go_on_with(words[at].text, std::move(arguments), false, node.line);
      });
    }
  }
  launchers_.resize(outside);
  return {.known = false, .open = {as_written(words[std::min(shell, words.size() - 1)].text)}};
}

template <class Run>
void ShellReader::in_shell_of_its_own(const std::map<std::string, ShellWord>& environment,
                                      std::vector<std::string> arguments, std::string zero,
                                      Run run_inside) {
  ShellVariables inside;
  for (const auto& [name, value] : given_.variables) {
    if (is_shell_name(name)) inside.fix(name, value);
  }
  for (const auto& [name, value] : environment) {
    budget_.word(value.text, {value.file, value.line});
    inside.set(name, {.elements = {value}});
    inside.mark_exported(name);
  }
  inside.arguments = std::move(arguments);
  inside.zero = std::move(zero);
  std::swap(inside, variables_);
  auto functions = std::exchange(functions_, {});
  run_inside();
  functions_ = std::move(functions);
  std::swap(inside, variables_);
  if (flow_ != Flow::kNext) flow_ = Flow::kNext;
}

bool ShellReader::has_file(const std::string& name) const {
  return written_.contains(name) || std::ranges::any_of(sources_, [&](const ShellSource& source) {
           return base_name(source.name) == name;
         });
}

/// Goes on with a given or written file of this name; says whether there is one. `same_shell`: as
/// `source` does.
bool ShellReader::go_on_with(const std::string& path, std::vector<std::string> arguments,
                             bool same_shell, std::uint32_t line) {
  const std::string name = base_name(as_empty(path));
  const auto source = std::ranges::find_if(
      sources_, [&](const ShellSource& one) { return base_name(one.name) == name; });
  const auto written = written_.find(name);
  if (source == sources_.end() && written == written_.end()) {
    if (!sets_up_shell(name)) {
      script_.missing.push_back({as_written(path), line, expansion_.file()});
    }
    return false;
  }
  if (++files_deep_ > kFilesDeep) {
    budget_.fail(place(line), fmt::format("'{}' goes on with itself again and again", name));
  }
  ShellArguments before = variables_.arguments;
  if (!same_shell || !arguments.empty()) variables_.arguments = std::move(arguments);
  if (source != sources_.end()) {
    if (!same_shell) take_batch_options(source->text);
    run_source(static_cast<std::size_t>(source - sources_.begin()));
  } else {
    run_batch(std::string(written->second.text), line);
  }
  variables_.arguments = std::move(before);
  if (flow_ == Flow::kReturn) flow_ = Flow::kNext;
  --files_deep_;
  return true;
}

void ShellReader::run_source(std::size_t source) {
  const ShellNode*& program = programs_[source];
  if (program == nullptr) {
    parsed_.push_back(parse_shell(sources_[source].text, sources_[source].name));
    program = &parsed_.back();
  }
  const std::uint32_t before = expansion_.file();
  expansion_.go_to(static_cast<std::uint32_t>(source));
  run(*program);
  expansion_.go_to(before);
}

/// A text that a batch system or a shell takes from its input.
void ShellReader::run_batch(const std::string& text, std::uint32_t line) {
  take_batch_options(text);
  run_text(text, line);
}

/// Takes the `#SBATCH` lines of a text, and sets what Slurm would.
void ShellReader::take_batch_options(std::string_view text) {
  budget_.work(text.size(), place(1));
  for (ShellWord& word : batch_options(text, expansion_.file())) {
    budget_.word(word.text, place(word.line));
    script_.batch_options.push_back(told(std::move(word)));
  }
  budget_.work(kWorkOfOption * script_.batch_options.size(), place(1));
  for (const auto& [name, value] : slurm_variables(script_.batch_options)) {
    if (variables_.find(name) == nullptr) variables_.set_text(name, value, {});
    variables_.mark_exported(name);
  }
}

void ShellReader::run_text(const std::string& text, std::uint32_t line) {
  budget_.word(text, place(line));
  parsed_.push_back(parse_shell(text, script_.files[expansion_.file()], std::max(line, 1U)));
  const ShellNode& node = parsed_.back();
  const std::size_t kept = parsed_.size();
  const std::size_t before = functions_made_;
  run(node);
  if (functions_made_ == before && parsed_.size() == kept) {
    parsed_.pop_back();
  } else {
    kept_ += text.size();
    if (kept_ > kMostKept) budget_.fail(place(line), "too much text defines functions");
  }
}

/// What a command would print, where that follows from its words alone.
std::optional<std::string> ShellReader::printed(const std::string& command) {
  budget_.word(command, place(1));
  const ShellNode all = parse_shell(command, script_.files[expansion_.file()]);
  if (all.children.size() != 1) return std::nullopt;
  const ShellNode& node = all.children.front();
  if (node.kind == NodeKind::kPipe && node.children.size() == 2) {
    const ShellNode& last = node.children.back();
    const ShellNode& first = node.children.front();
    const bool calculates = last.kind == NodeKind::kSimple && !last.words.empty() &&
                            last.words.front().plain() == "bc" && first.kind == NodeKind::kSimple &&
                            !first.words.empty();
    const auto text = calculates ? printed_by(first, expansion_.words(first.words)) : std::nullopt;
    const auto value = text ? expansion_.arithmetic(*text, node.line) : std::nullopt;
    return value && value->known ? std::optional(std::to_string(value->value)) : std::nullopt;
  }
  return printed_way(node);
}

/// Whether a test holds, where that is known; nothing for a command of another kind.
std::optional<bool> ShellReader::tested(const ShellNode& node) {
  const std::string_view name =
      node.kind == NodeKind::kSimple && !node.words.empty() ? node.words.front().plain() : "";
  if (node.kind != NodeKind::kTest && name != "[" && name != "test") return std::nullopt;
  const ShellStatus status = run(node);
  return status.known ? std::optional(status.ok) : std::nullopt;
}

/// What a command prints, or the one that a known test leads to: `[ "$CP" = 1 ] || echo --cp`.
std::optional<std::string> ShellReader::printed_way(const ShellNode& node) {
  const auto way = [&](const ShellNode& test, const ShellNode* yes, const ShellNode* no) {
    const std::optional<bool> holds = tested(test);
    const ShellNode* taken = holds.value_or(false) ? yes : no;
    if (!holds) return std::optional<std::string>();
    return taken == nullptr ? std::optional(std::string()) : printed_way(*taken);
  };
  const std::vector<ShellNode>& parts = node.children;
  switch (node.kind) {
    case NodeKind::kList: return parts.size() == 1 ? printed_way(parts.front()) : std::nullopt;
    case NodeKind::kChain: {
      const bool both = node.joints.front().needs_both;
      if (parts.size() == 2)
        return way(parts[0], both ? &parts[1] : nullptr, both ? nullptr : &parts[1]);
      const bool yes_or_no = parts.size() == 3 && both && !node.joints.back().needs_both;
      return yes_or_no ? way(parts[0], &parts[1], &parts[2]) : std::nullopt;
    }
    case NodeKind::kIf:
      return way(parts[0].kind == NodeKind::kList && parts[0].children.size() == 1
                     ? parts[0].children.front()
                     : parts[0],
                 &parts[1], parts.size() > 2 ? &parts[2] : nullptr);
    case NodeKind::kSimple:
      return node.words.empty() ? std::nullopt : printed_by(node, expansion_.words(node.words));
    default: return std::nullopt;
  }
}

/// What `echo` prints of its words, with the end of the line.
std::string ShellReader::echoed(const Words& words) {
  const auto is_option = [](const std::string& text) {
    return text.size() > 1 && text.starts_with('-') &&
           text.find_first_not_of("neE", 1) == std::string::npos;
  };
  std::string letters;
  auto first = words.begin() + 1;
  while (first != words.end() && is_option(first->text)) letters += (first++)->text;
  std::string text = joined(Words(first, words.end()));
  if (letters.find('e') != std::string::npos) text = shell_unescaped(text).value_or(text);
  return letters.find('n') == std::string::npos ? text + "\n" : text;
}

std::optional<std::string> ShellReader::printed_by(const ShellNode& node, const Words& words) {
  static constexpr std::array<std::string_view, 7> kStarters = {
      "sbatch", "srun", "torchrun", "accelerate", "deepspeed", "mpirun", "qsub"};
  if (words.empty()) return std::nullopt;
  // `JOB=$(sbatch --parsable job.sh)`: what it prints is not known, what it starts is.
  if (is_one_of(base_name(words.front().text), kStarters)) {
    start(node, words);
    return std::nullopt;
  }
  if (node.output) return std::nullopt;
  const std::string& name = words.front().text;
  const Words rest(words.begin() + 1, words.end());
  if (functions_.contains(name)) return std::nullopt;
  if (name == "expr") {
    const auto value = expansion_.arithmetic(joined(rest), node.line);
    return value && value->known ? std::optional(std::to_string(value->value)) : std::nullopt;
  }
  if (name == "echo") return without_last_lines(echoed(words));
  if (name == "printf" && !rest.empty() && rest.front().text != "-v") {
    const auto text = shell_formatted(rest.front().text, texts(rest, 1));
    return text ? std::optional(without_last_lines(*text)) : std::nullopt;
  }
  if (name == "cat" && rest.empty() && node.input) {
    return without_last_lines(expansion_.text(*node.input));
  }
  // The path of a launcher is as good as its name.
  const bool asked = (name == "which" && rest.size() == 1) ||
                     (name == "command" && rest.size() == 2 && rest.front().text == "-v");
  if (asked && is_launcher(rest.back().text)) return rest.back().text;
  if (name == "basename" && rest.size() == 1) return base_name(rest.front().text);
  if (name == "dirname" && rest.size() == 1) {
    const std::string& path = rest.front().text;
    const std::size_t slash = path.find_last_of('/');
    return slash == std::string::npos ? "." : path.substr(0, slash);
  }
  if (name == "getopt" && variables_.arguments.size() == 0) return " --";
  if (name == "seq" && (rest.size() == 1 || rest.size() == 2)) {
    const std::string text =
        fmt::format("{{{}..{}}}", rest.size() == 1 ? "1" : rest.front().text, rest.back().text);
    return joined(expansion_.words(parse_word(text, script_.files[expansion_.file()], node.line)));
  }
  if (name == "seq" && rest.size() == 3) return counted(rest);
  return std::nullopt;
}

}  // namespace stepwright::launch_scripts
