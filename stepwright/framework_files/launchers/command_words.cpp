#include "stepwright/framework_files/launchers/command_words.h"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/core/utf8.h"
#include "stepwright/launch_scripts/batch/option_words.h"
#include "stepwright/launch_scripts/shell/state.h"

namespace stepwright::framework_files {

std::vector<CommandOption> command_options(Words words) {
  std::vector<CommandOption> options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& text = words[i].text;
    if (!text.starts_with("--")) continue;
    const std::size_t equals = text.find('=');
    CommandOption option{.name = text.substr(2, equals == text.npos ? equals : equals - 2),
                         .value = words[i]};
    if (option.name.empty()) continue;
    option.value.text = "true";
    if (equals != std::string::npos) {
      option.value.text = text.substr(equals + 1);
    } else if (i + 1 < words.size() && !words[i + 1].text.starts_with("--")) {
      option.value = words[++i];
    }
    options.push_back(std::move(option));
  }
  return options;
}

void check_hydra_options(const StartedCommand& command) {
  // facebookresearch/hydra hydra/_internal/utils.py, get_args_parser.
  static constexpr std::string_view kOptions =
      "--help -h --hydra-help --version --cfg -c --resolve --package -p --run -r --multirun -m "
      "--shell-completion -sc --config-path -cp --config-name -cn --config-dir -cd --info -i "
      "--experimental-rerun";
  for (const ShellWord& word : command.words) {
    const std::string_view option = std::string_view(word.text).substr(0, word.text.find('='));
    if (!option.starts_with('-') || launch_scripts::word_list_contains(kOptions, option)) continue;
    fail_unsupported(fmt::format(
        "{}:{}: {} has the option {}, which Hydra does not have, so it is another program than "
        "those that are read: describe its job by hand (stepwright init)",
        command.file, word.line, one_line_printable_text(command.words.front().text),
        one_line_printable_text(option)));
  }
}

void check_hydra_words(const StartedCommand& command) {
  const std::vector<ShellWord>& words = command.words;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& text = words[i].text;
    const std::string& before = words[i - 1].text;
    const bool of_option = before.starts_with('-') && before.find('=') == std::string::npos;
    const std::size_t equals = text.find('=');
    const bool override = (equals != std::string::npos && equals > 0) || text.starts_with('~');
    if (override || of_option || text.empty() || text.starts_with('-') || !words[i].open.empty()) {
      continue;
    }
    fail_input(
        fmt::format("{}:{}: Hydra cannot read the word {} (missing EQUAL), so the job does not "
                    "start: settings are "
                    "NAME=VALUE without blanks",
                    command.file, words[i].line, one_line_printable_text(text)));
  }
}

std::string copied_file_name(std::string_view name, const StartedCommand& command) {
  const auto copy = command.copies.find(std::string(name));
  return copy == command.copies.end() ? std::string(name) : copy->second.source;
}

const SourceFile* find_command_file(std::string_view name, Sources files,
                                    const StartedCommand& command) {
  const std::string source = copied_file_name(name, command);
  for (const std::string_view one : {name, std::string_view(source)}) {
    for (const SourceFile& file : files) {
      if (launch_scripts::path_base_name(file.name) == one) return &file;
    }
  }
  const auto written = command.written.find(std::string(name));
  return written == command.written.end() ? nullptr : &written->second;
}

void fail_for_missing_file(const ShellWord& path, const StartedCommand& command) {
  std::string open;
  for (const std::string& name : path.open) {
    if (name.starts_with("$(") || name.starts_with('`')) continue;
    // The text of a word that is an argument of the script is `$1`.
    const bool argument =
        path.text.size() == 2 && path.text[0] == '$' && path.text[1] > '0' && path.text[1] <= '9';
    open += fmt::format("; the script does not set it: --set {}=VALUE",
                        one_line_printable_text(argument ? path.text.substr(1) : name));
  }
  fail_input(fmt::format("{}:{}: the command reads {}: give this file, too{}", command.file,
                         path.line, one_line_printable_text(path.text), open));
}

SplitScriptFiles split_script_files(Sources files) {
  SplitScriptFiles parted;
  for (const SourceFile& file : files) {
    (is_shell_script(file) ? parted.scripts : parted.others).push_back(file);
  }
  return parted;
}

StartedTrainingProgram training_program_started_by_command(const StartedCommand& command) {
  return {.source = command.file,
          .program = command.words.front().text,
          .environment = {},
          .launchers = {}};
}

}  // namespace stepwright::framework_files
