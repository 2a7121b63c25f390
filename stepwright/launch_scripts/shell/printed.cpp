#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "stepwright/core/scalar.h"
#include "stepwright/launch_scripts/batch/host_list.h"
#include "stepwright/launch_scripts/shell/filter.h"
#include "stepwright/launch_scripts/shell/format.h"
#include "stepwright/launch_scripts/shell/job.h"
#include "stepwright/launch_scripts/shell/reader.h"

namespace stepwright::launch_scripts {
namespace {

using NodeKind = ShellNode::Kind;

/// Returns the lines that `seq FIRST STEP LAST` prints.
std::optional<std::string> counted(const std::vector<ShellWord>& words) {
  constexpr std::int64_t kMost = 10'000;
  std::array<std::int64_t, 3> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const IntegerParseResult reading = read_integer(words[i].text);
    if (reading.status != IntegerParseResult::IntegerParseStatus::kGood) return std::nullopt;
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

/// Removes trailing newlines, as a command substitution does.
std::string without_last_lines(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

/// True for programs that process the lines of a file.
bool reads_lines(std::string_view program) {
  static constexpr std::array<std::string_view, 6> kPrograms = {"wc",   "sort", "uniq",
                                                                "head", "tail", "cat"};
  return is_one_of(program, kPrograms);
}

bool is_filter_option(std::string_view word) {
  return word.starts_with('-') || word.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Most devices of a node that are listed one by one.
constexpr std::int64_t kMostDevicesListed = 64;

}  // namespace

/// Returns the text that a command prints; nullopt if it does not follow from the command's words.
std::optional<std::string> ShellInterpreter::printed(const std::string& command) {
  budget_.count_expanded_word(command, place(1));
  const ShellNode all = parse_shell_script(command, script_.files[expansion_.file()]);
  if (all.children.size() != 1) return std::nullopt;
  const ShellNode& node = all.children.front();
  return node.kind == NodeKind::kPipe ? printed_pipe(node) : printed_way(node);
}

/// Returns the text that a pipe's last command prints.
std::optional<std::string> ShellInterpreter::printed_pipe(const ShellNode& node) {
  std::optional<std::string> text;
  for (const ShellNode& child : node.children) {
    if (child.kind != NodeKind::kSimple || child.words.empty() || child.output) return std::nullopt;
    const Words words = expansion_.expand_to_shell_words(child.words);
    if (&child == &node.children.front()) {
      text = printed_by(child, words);
    } else if (text && words.front().text == "bc") {
      const auto value = expansion_.value_of_arithmetic(*text, node.line);
      const bool known = value && value->known;
      text = known ? std::optional(std::to_string(value->value)) : std::nullopt;
    } else if (text) {
      budget_.count_processed_characters(text->size(), place(node.line));
      text = apply_shell_pipe_filter(texts_of_words_from(words, 0), *text);
    }
    if (!text) return std::nullopt;
  }
  return text;
}

/// Returns the text that a command passes on in a pipe: its own output, or its input unchanged.
std::optional<std::string> ShellInterpreter::passed_text(const ShellNode& node,
                                                         std::optional<std::string> before) {
  const std::string_view name = node.kind == NodeKind::kSimple && !node.words.empty()
                                    ? node.words.front().unquoted_plain_text()
                                    : "";
  if (name == "tee" || name == "envsubst" ||
      (name == "cat" && node.words.size() == 1 && !node.input))
    return before;
  if (name == "cat" && node.input) return expansion_.text(*node.input);
  if (name != "echo" && name != "printf") return std::nullopt;
  return printed_by(node, expansion_.expand_to_shell_words(node.words));
}

/// Returns the text of a host file of the scheduler, or of a file that the script has written; the
/// file is that of `<`, or the last word of the command.
std::optional<std::string> ShellInterpreter::text_of_file(const ShellNode& node,
                                                          const Words& words) {
  std::string path;
  if (node.source_file) {
    path = expansion_.text(*node.source_file);
  } else if (words.size() > 1) {
    path = words.back().text;
  }
  const std::string name = path_base_name(path);
  if (const auto hosts = host_files_.find(name); hosts != host_files_.end()) return hosts->second;
  const auto written = written_.find(name);
  return written == written_.end() ? std::nullopt : std::optional(written->second.text);
}

/// Returns the text that commands such as `scontrol` print about the hosts and devices of the job.
std::optional<std::string> ShellInterpreter::printed_of_job(const Words& words) {
  const std::string& name = words.front().text;
  const std::string second = words.size() > 1 ? words[1].text : "";
  std::string hosts;
  if (name == "scontrol" && second == "show" && words.size() > 2 &&
      words[2].text.starts_with("hostname")) {
    hosts = words.size() > 3 ? words[3].text
                             : variables_.text("SLURM_JOB_NODELIST").value_or(std::string());
  } else if (name == "nodeset" && second == "-e" && words.size() > 2) {
    hosts = words[2].text;
  }
  if (!hosts.empty() && is_fully_known_script_text(hosts)) {
    const std::vector<std::string> names = expand_slurm_host_list(hosts);
    return fmt::format("{}", fmt::join(names, name == "nodeset" ? " " : "\n"));
  }
  const std::int64_t devices =
      job_ == nullptr ? 0 : std::min(job_->devices_per_node.value_or(0), kMostDevicesListed);
  if (name != "nvidia-smi" || devices == 0) return std::nullopt;
  const bool lists = second == "-L" || second == "--list-gpus";
  const bool queries =
      second.starts_with("--query-gpu=") && words.back().text.find("noheader") != std::string::npos;
  if (!lists && !queries) return std::nullopt;
  std::string text;
  for (std::int64_t i = 0; i < devices; ++i) {
    text += fmt::format("{}{}", i > 0 ? "\n" : "", lists ? fmt::format("GPU {}:", i) : "GPU");
  }
  return text;
}

/// Returns whether a test holds; nullopt if that is unknown, or if the command is not a test.
std::optional<bool> ShellInterpreter::tested(const ShellNode& node) {
  const std::string_view name = node.kind == NodeKind::kSimple && !node.words.empty()
                                    ? node.words.front().unquoted_plain_text()
                                    : "";
  if (node.kind != NodeKind::kTest && name != "[" && name != "test") return std::nullopt;
  const ShellExitStatus status = run(node);
  return status.known ? std::optional(status.ok) : std::nullopt;
}

/// Returns the text of a command, or of the one that runs after a known test: `[ "$CP" = 1 ] ||
/// echo --cp`.
std::optional<std::string> ShellInterpreter::printed_way(const ShellNode& node) {
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
      return node.words.empty() ? std::nullopt
                                : printed_by(node, expansion_.expand_to_shell_words(node.words));
    default: return std::nullopt;
  }
}

/// Returns the text that `echo` prints, with its newline.
std::string ShellInterpreter::echoed(const Words& words) {
  const auto is_option = [](const std::string& text) {
    return text.size() > 1 && text.starts_with('-') &&
           text.find_first_not_of("neE", 1) == std::string::npos;
  };
  std::string letters;
  auto first = words.begin() + 1;
  while (first != words.end() && is_option(first->text)) letters += (first++)->text;
  std::string text = join_shell_words(Words(first, words.end()));
  if (letters.find('e') != std::string::npos) text = shell_echo_unescaped(text).value_or(text);
  return letters.find('n') == std::string::npos ? text + "\n" : text;
}

std::optional<std::string> ShellInterpreter::printed_by(const ShellNode& node, const Words& words) {
  static constexpr std::array<std::string_view, 7> kStarters = {
      "sbatch", "srun", "torchrun", "accelerate", "deepspeed", "mpirun", "qsub"};
  if (words.empty()) return std::nullopt;
  // In `JOB=$(sbatch --parsable job.sh)` the printed text is unknown, but the started job is known.
  if (is_one_of(path_base_name(words.front().text), kStarters)) {
    start(node, words);
    return std::nullopt;
  }
  if (node.output) return std::nullopt;
  const std::string& name = words.front().text;
  const Words rest(words.begin() + 1, words.end());
  if (functions_.contains(name)) return std::nullopt;
  if (auto text = printed_of_job(words)) return text;
  // A last word that is not an option names the file.
  const bool named = words.size() > 1 && !is_filter_option(words.back().text);
  if (reads_lines(name) && (node.source_file || named)) {
    const auto text = text_of_file(node, words);
    if (!text || !is_fully_known_script_text(*text)) return std::nullopt;
    const std::string path = node.source_file ? "" : words.back().text;
    std::vector<std::string> own = texts_of_words_from(words, 0);
    if (!node.source_file) own.pop_back();
    const auto made = apply_shell_pipe_filter(own, *text);
    return made && name == "wc" && !path.empty() ? fmt::format("{} {}", *made, path) : made;
  }
  if (name == "expr") {
    const auto value = expansion_.value_of_arithmetic(join_shell_words(rest), node.line);
    return value && value->known ? std::optional(std::to_string(value->value)) : std::nullopt;
  }
  if (name == "echo") return without_last_lines(echoed(words));
  if (name == "printf" && !rest.empty() && rest.front().text != "-v") {
    const auto text = shell_printf_text(rest.front().text, texts_of_words_from(rest, 1));
    return text ? std::optional(without_last_lines(*text)) : std::nullopt;
  }
  if (name == "cat" && rest.empty() && node.input) {
    return without_last_lines(expansion_.text(*node.input));
  }
  // A launcher's name serves as its path.
  const bool asked = (name == "which" && rest.size() == 1) ||
                     (name == "command" && rest.size() == 2 && rest.front().text == "-v");
  if (asked && is_training_launcher_program(rest.back().text)) return rest.back().text;
  if (name == "basename" && rest.size() == 1) return path_base_name(rest.front().text);
  if (name == "dirname" && rest.size() == 1) {
    const std::string& path = rest.front().text;
    const std::size_t slash = path.find_last_of('/');
    return slash == std::string::npos ? "." : path.substr(0, slash);
  }
  if (name == "getopt" && variables_.arguments.size() == 0) return " --";
  if (name == "seq" && (rest.size() == 1 || rest.size() == 2)) {
    const std::string text =
        fmt::format("{{{}..{}}}", rest.size() == 1 ? "1" : rest.front().text, rest.back().text);
    return join_shell_words(expansion_.expand_to_shell_words(
        parse_shell_word(text, script_.files[expansion_.file()], node.line)));
  }
  if (name == "seq" && rest.size() == 3) return counted(rest);
  return std::nullopt;
}

}  // namespace stepwright::launch_scripts
