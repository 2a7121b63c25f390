#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "stepwright/launch_scripts/batch/allocation.h"
#include "stepwright/launch_scripts/shell/job.h"
#include "stepwright/launch_scripts/shell/reader.h"

namespace stepwright::launch_scripts {
namespace {

using NodeKind = ShellNode::Kind;
constexpr int kFilesDeep = 8;
constexpr std::size_t kMostKept = std::size_t{1} << 20;

bool is_shell(std::string_view word) {
  static constexpr std::array<std::string_view, 4> kShells = {"bash", "sh", "zsh", "dash"};
  return is_one_of(path_base_name(word), kShells);
}

bool is_script(std::string_view word) {
  static constexpr std::array<std::string_view, 5> kEndings = {".sh", ".bash", ".slurm", ".sbatch",
                                                               ".sub"};
  return std::ranges::any_of(kEndings, [&](std::string_view end) { return word.ends_with(end); }) &&
         word.find('=') == std::string_view::npos;
}

/// True for data files, which no shell runs although a script can write them.
bool is_data(std::string_view word) {
  static constexpr std::array<std::string_view, 6> kEndings = {".yaml",  ".yml",  ".json",
                                                               ".jsonl", ".toml", ".txt"};
  return std::ranges::any_of(kEndings, [&](std::string_view end) { return word.ends_with(end); });
}

/// True for files that set up a shell, a virtual environment or modules, and start no job.
bool sets_up_shell(std::string_view name) {
  static constexpr std::array<std::string_view, 12> kNames = {
      "activate",   ".bashrc", ".bash_profile", ".profile", "conda.sh",   "mamba.sh",
      "modules.sh", "lmod.sh", "profile",       "bash",     "setvars.sh", ".env"};
  return is_one_of(name, kNames);
}

/// True for programs that process a file without running it.
bool only_handles(std::string_view program) {
  static constexpr std::array<std::string_view, 16> kPrograms = {
      "chmod", "cp",   "rm",  "mv",   "ls",   "touch", "scp",  "rsync",
      "tar",   "grep", "sed", "wget", "curl", "head",  "tail", "ln"};
  return is_one_of(path_base_name(program), kPrograms);
}

/// Returns a word as a started program sees it: its unknown parts as written, and listed in `open`.
ShellWord told(ShellWord word) {
  word.open = unknown_parts_of(word.text);
  word.text = text_without_placeholders(word.text);
  return word;
}

}  // namespace

/// Returns the variables that a program sees, including the assignments before its command.
std::map<std::string, ShellWord> ShellInterpreter::environment(const ShellNode& node) {
  std::map<std::string, ShellWord> seen = variables_.exported_variables();
  for (const ShellAssignment& one : node.assignments) {
    if (one.array) continue;
    seen[one.name] = {.text = variables_.is_fixed(one.name) ? variables_.text(one.name).value_or("")
                                                            : expansion_.text(one.values.front()),
                      .line = one.line,
                      .file = expansion_.file()};
  }
  return seen;
}

/// Removes wrapper scripts that are not given and whose arguments are a whole command: `./bind.sh
/// python train.py`, which ends in `exec "$@"`.
void ShellInterpreter::take_out_wrappers(Words& words, std::uint32_t line) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& text = words[i].text;
    if (text.ends_with(".py")) return;
    if (!is_script(text) || has_file(path_base_name(text))) continue;
    const bool command = is_training_launcher_program(path_base_name(words[i + 1].text));
    if (!command) return;
    script_.missing.push_back({text_without_placeholders(text), line, expansion_.file()});
    const bool shell = i > 0 && is_shell(words[i - 1].text);
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(i - (shell ? 1 : 0)),
                words.begin() + static_cast<std::ptrdiff_t>(i + 1));
    return;
  }
}

ShellExitStatus ShellInterpreter::start(const ShellNode& node, Words words) {
  record_copy(node, words);
  if (node.output) {
    if (const auto text = printed_of_job(words)) {
      written_[path_base_name(text_without_placeholders(expansion_.text(*node.output)))] = {
          .text = *text + "\n", .line = node.line, .file = expansion_.file()};
      return {};
    }
  }
  take_out_wrappers(words, node.line);
  if (only_handles(words.front().text)) return {.known = false, .open = {words.front().text}};
  // The words after a Python program are its arguments, not scripts.
  const auto program =
      std::ranges::find_if(words, [](const ShellWord& word) { return word.text.ends_with(".py"); });
  const auto front = static_cast<std::size_t>(program - words.begin());
  for (std::size_t i = 0; i < front; ++i) {
    if (is_shell(words[i].text)) return within_shell(node, words, i);
    const std::string name = path_base_name(text_without_placeholders(words[i].text));
    // A file that the script wrote can be the value of an option: `--hostfile /tmp/hosts`.
    const bool option = i > 0 && words[i - 1].text.starts_with('-') && written_.contains(name);
    // Data files among the scripts are job files: `kubectl apply -f job.yaml`.
    const bool job = is_data(name) && find_passed_script(name);
    const bool ours = !option && (job || (!is_data(name) && has_file(name)));
    if (ours || is_script(words[i].text)) return within_shell(node, words, i);
  }
  if (node.source_file && path_base_name(words.front().text) == "envsubst") {
    const std::string path = text_without_placeholders(expansion_.text(*node.source_file));
    if (find_passed_script(path)) {
      const ShellWord job{.text = path, .line = node.line, .file = expansion_.file()};
      return within_shell(node, {job}, 0);
    }
  }
  const bool submits =
      !scheduler_of_submission_program(path_base_name(words.front().text), {}).empty();
  if (submits && (node.input || node.source_file)) return within_shell(node, words, words.size());
  // A program with options or data files can be a training program.
  const auto options =
      !node.assignments.empty() || std::ranges::any_of(words, [](const ShellWord& word) {
        return word.text.starts_with("--") || is_data(word.text);
      });
  ShellCommand command{
      .launchers = launchers_, .job = job_, .line = node.line, .file = expansion_.file()};
  if (options) command.environment = environment(node);
  for (auto& [name, value] : command.environment) {
    budget_.count_expanded_word(value.text, place(node.line));
    value = told(std::move(value));
  }
  for (const ShellWord& word : launchers_) budget_.count_expanded_word(word.text, place(node.line));
  for (const ShellWord& word : words) command.words.push_back(told(word));
  const std::string name = command.words.front().text;
  script_.commands.push_back(std::move(command));
  run_told_command(node, words);
  return {.known = false, .open = {name}};
}

/// Runs the command in `gcloud ... --command="python3 train.py ..."`, which a program executes
/// elsewhere.
void ShellInterpreter::run_told_command(const ShellNode& node, const Words& words) {
  static constexpr std::array<std::string_view, 5> kNames = {"--command", "--COMMAND", "--cmd",
                                                             "--entrypoint", "--wrap"};
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& text = words[i].text;
    const std::size_t equals = std::min(text.find('='), text.size());
    if (!is_one_of(std::string_view(text).substr(0, equals), kNames)) continue;
    const bool apart = equals == text.size();
    if (apart && i + 1 == words.size()) return;
    const std::string told = apart ? words[i + 1].text : text.substr(equals + 1);
    if (told.find_first_of(" \n") == std::string::npos) continue;
    const auto outer = job_;
    in_shell_of_its_own(environment(node), {}, "bash",
                        [&] { run_batch(told, words[i].line, batch_submission_part(words)); });
    job_ = outer;
    return;
  }
}

/// Runs `srun bash -c TEXT`, `bash FILE`, `srun FILE`, or `sbatch` with a script as its input;
/// `shell` is the index of `bash` or of the file.
ShellExitStatus ShellInterpreter::within_shell(const ShellNode& node, const Words& words,
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
  const auto outer = job_;
  const Words before(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(shell));
  const Words submission = batch_submission_part(before);
  // Outside of a job, `srun` makes one.
  const auto step = std::ranges::find(before, "srun", &ShellWord::text);
  const bool makes_job = job_ == nullptr && submission.empty() && step != before.end();
  if (makes_job) {
    variables_.enter_subshell();
    enter_job("", {step, before.end()});
  }
  std::map<std::string, ShellWord> seen = environment(node);
  add_job_exported_variables(submission, seen);
  // Variables of `docker run -e NAME=VALUE IMAGE bash -c TEXT`.
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
    in_shell_of_its_own(seen, {}, "bash", [&] { run_batch(input, node.input->line, submission); });
  } else if (at >= words.size() && node.source_file) {
    const std::string path = expansion_.text(*node.source_file);
    in_shell_of_its_own(seen, {}, "bash", [&] {
      go_on_with({.path = path, .line = node.line, .submission = submission});
    });
  }
  if (at < words.size()) {
    std::vector<std::string> arguments = texts_of_words_from(words, at + 1);
    if (text) {
      std::string zero = arguments.empty() ? std::string("bash") : arguments.front();
      if (!arguments.empty()) arguments.erase(arguments.begin());
      in_shell_of_its_own(seen, std::move(arguments), std::move(zero),
                          [&] { run_text(words[at].text, words[at].line); });
    } else {
      in_shell_of_its_own(seen, {}, words[at].text, [&] {
        go_on_with({.path = words[at].text,
                    .arguments = std::move(arguments),
                    .line = node.line,
                    .submission = submission});
      });
    }
  }
  launchers_.resize(outside);
  if (makes_job) variables_.leave_subshell();
  job_ = outer;
  return {.known = false,
          .open = {text_without_placeholders(words[std::min(shell, words.size() - 1)].text)}};
}

template <class Run>
void ShellInterpreter::in_shell_of_its_own(const std::map<std::string, ShellWord>& environment,
                                           std::vector<std::string> arguments, std::string zero,
                                           Run run_inside) {
  ShellVariables inside;
  for (const auto& [name, value] : given_.variables) {
    if (is_shell_name(name)) inside.set_fixed_variable(name, value);
  }
  for (const auto& [name, value] : environment) {
    budget_.count_expanded_word(value.text, {value.file, value.line});
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

bool ShellInterpreter::has_file(const std::string& name) const {
  return written_.contains(name) || find_passed_script(name).has_value();
}

std::optional<std::size_t> ShellInterpreter::find_passed_script(std::string_view path) const {
  const auto find_source = [&](std::string_view wanted) {
    std::optional<std::size_t> found;
    std::size_t most = 0;
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      const std::string_view name = sources_[i].name;
      if (path_base_name(name) != path_base_name(wanted)) continue;
      const auto end = std::mismatch(name.rbegin(), name.rend(), wanted.rbegin(), wanted.rend());
      const auto alike = static_cast<std::size_t>(end.first - name.rbegin());
      if (!found || alike > most) found = i;
      most = std::max(most, alike);
    }
    return found;
  };
  const auto found = find_source(path);
  const auto copy = found ? script_.copies.end() : script_.copies.find(path_base_name(path));
  return copy == script_.copies.end() ? found : find_source(copy->second.source);
}

/// Runs a given or written file of this name; false if there is none.
bool ShellInterpreter::go_on_with(NestedShellScript next) {
  const std::string path = without_unknown_parts(next.path);
  const std::string name = path_base_name(path);
  const std::uint32_t line = next.line;
  std::optional<std::size_t> source = find_passed_script(path);
  const auto written = written_.find(path_base_name(text_without_placeholders(next.path)));
  // A job that submits itself again would repeat itself; the same name under another path can be
  // another file.
  const bool again = source && std::ranges::count(running_, *source) > 1;
  const bool same_path = again && path == sources_[*source].name;
  if (same_path && !next.submission.empty()) return true;
  if (again && !same_path) source.reset();
  if (!source && written == written_.end()) {
    if (!sets_up_shell(name)) {
      script_.missing.push_back({text_without_placeholders(next.path), line, expansion_.file()});
    }
    return false;
  }
  if (++files_deep_ > kFilesDeep) {
    budget_.fail(place(line), fmt::format("'{}' runs itself without end", name));
  }
  ShellArguments before = variables_.arguments;
  if (!next.same_shell || !next.arguments.empty()) {
    variables_.arguments = std::move(next.arguments);
  }
  if (source) {
    if (!next.same_shell) enter_job(sources_[*source].text, next.submission);
    run_source(*source);
  } else {
    run_batch(std::string(written->second.text), line, next.submission);
  }
  variables_.arguments = std::move(before);
  if (flow_ == Flow::kReturn) flow_ = Flow::kNext;
  --files_deep_;
  return true;
}

void ShellInterpreter::run_source(std::size_t source) {
  const ShellNode*& program = programs_[source];
  if (program == nullptr) {
    parsed_.push_back(parse_shell_script(sources_[source].text, sources_[source].name));
    program = &parsed_.back();
  }
  const std::uint32_t before = expansion_.file();
  expansion_.set_current_script_file(static_cast<std::uint32_t>(source));
  running_.push_back(source);
  run(*program);
  running_.pop_back();
  expansion_.set_current_script_file(before);
}

/// Runs a text that a batch system or a shell reads from its input.
void ShellInterpreter::run_batch(const std::string& text, std::uint32_t line,
                                 const Words& submission) {
  enter_job(text, submission);
  run_text(text, line);
}

void ShellInterpreter::run_text(const std::string& text, std::uint32_t line) {
  budget_.count_expanded_word(text, place(line));
  parsed_.push_back(parse_shell_script(text, script_.files[expansion_.file()], std::max(line, 1U)));
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

}  // namespace stepwright::launch_scripts
