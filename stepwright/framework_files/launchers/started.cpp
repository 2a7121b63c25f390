#include "stepwright/framework_files/launchers/started.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/draft/words_table.h"
#include "stepwright/framework_files/launchers/command_changes.h"
#include "stepwright/launch_scripts/batch/extent_environment.h"
#include "stepwright/launch_scripts/capture_advice.h"
#include "stepwright/launch_scripts/shell/job.h"
#include "stepwright/launch_scripts/shell/state.h"
#include "stepwright/launch_scripts/shell/syntax.h"

namespace stepwright::framework_files {
namespace {

/// Largest number of outcomes of unknown shell conditions that are tried.
constexpr std::size_t kMostTries = 60;
/// Largest number of interpreter steps that all tries may take together.
constexpr std::size_t kMostEffort = 500'000;

bool is_argument_number(std::string_view name) {
  return !name.empty() && name.size() < 3 && name != "0" &&
         name.find_first_not_of("0123456789") == std::string_view::npos;
}

/// True if a text contains a name, not as a part of a longer one.
bool mentions(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != std::string_view::npos;
       at = text.find(name, at + 1)) {
    const bool argument = text.substr(0, at).ends_with("--");
    const bool front = argument || (at > 0 && launch_scripts::is_shell_name_char(text[at - 1]));
    const std::size_t end = at + name.size();
    if (!front && (end >= text.size() || !launch_scripts::is_shell_name_char(text[end])))
      return true;
  }
  return false;
}

std::map<std::string, std::string> variables_given(Sources files, const UserFacts& given,
                                                   const StartedProgramRule& program,
                                                   std::vector<std::string>& arguments) {
  std::map<std::string, std::string> variables;
  for (const std::string& setting : given.settings) {
    const std::size_t equals = setting.find('=');
    const std::string name = setting.substr(0, equals);
    const bool known = std::ranges::any_of(
        files, [&](const SourceFile& file) { return mentions(file.text, name); });
    const bool variable =
        is_argument_number(name) || (launch_scripts::is_shell_name(name) && known);
    if (variable && equals != std::string::npos) {
      variables[name] = setting.substr(equals + 1);
    } else if (program.has_argument(setting)) {
      arguments.push_back(setting);
    } else {
      fail_input(
          fmt::format("--set: '{}' must be NAME=VALUE of a variable that {} has, nor of an "
                      "argument of {}",
                      one_line_printable_text(setting), files.front().name, program.framework));
    }
  }
  if (!given.nodes) return variables;
  for (const char* name : {"SLURM_NNODES", "SLURM_JOB_NUM_NODES"}) {
    variables.try_emplace(name, std::to_string(*given.nodes));
  }
  return variables;
}

/// True if a word is an unset variable (`$EXTRA_ARGS`) in a position where it can hold arguments,
/// not the value of one. `kept` are the words before it.
bool holds_arguments(const ShellWord& word, const std::vector<ShellWord>& kept,
                     const StartedProgramRule& program) {
  const ShellWord& before = kept.back();
  // These options belong to mpirun, srun and similar launchers.
  static constexpr std::string_view kCounts[] = {"-n",   "-np",       "-N",
                                                 "-ppn", "-npernode", "-perhost"};
  if (word.open.size() != 1 || word.open.front() != word.text) return false;
  if (launch_scripts::is_one_of(before.text, kCounts)) return false;
  const auto option = std::find_if(kept.rbegin(), kept.rend(),
                                   [](const ShellWord& one) { return one.text.starts_with("--"); });
  if (option != kept.rend() && program.takes_list(option->text)) return false;
  if (!before.text.starts_with("--")) return true;
  return before.text.find('=') != std::string::npos || !program.takes_values(before.text);
}

/// Returns the index after a `--` that separates a program which submits jobs from the job's
/// command: `python submit.py --gpus 8 -- torchrun train.py`. 0: there is none.
std::size_t place_of_submitted(Words words) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const bool parted = words[i].text == "--" && i > 0;
    if (parted && launch_scripts::is_training_launcher_program(
                      launch_scripts::path_base_name(words[i + 1].text))) {
      return i + 1;
    }
  }
  return 0;
}

/// True if the word after an option of a launcher may be the option's value.
bool may_take_value(const std::string& option) {
  return option.starts_with('-') && option.find('=') == std::string::npos &&
         meaning_of_program_setting_word("launchers/programs", "switches", option).empty();
}

/// Returns the index of the launched program: a Python file, a module after `-m` that is not a
/// launcher itself, the program after `--no_python`, or an installed command such as `swift` behind
/// a launcher or container; if there is none, 0. A Python file after options of a program that
/// launches nothing is a value: `swift rlhf --external_plugins reward.py`.
std::size_t place_of_program(Words words) {
  if (const std::size_t inner = place_of_submitted(words)) {
    return inner + place_of_program(words.subspan(inner));
  }
  static constexpr std::array<std::string_view, 4> kLaunchers = {
      "torch.distributed.run", "torch.distributed.launch", "accelerate.commands.launch",
      "deepspeed.launcher.runner"};
  static constexpr std::array<std::string_view, 4> kRunners = {"torchrun", "accelerate",
                                                               "deepspeed", "mpirun"};
  static constexpr std::array<std::string_view, 4> kInstalled = {"swift", "megatron", "axolotl",
                                                                 "llamafactory-cli"};
  if (const std::size_t recipe = torchtune_recipe_argument_index(words)) return recipe;
  bool runs = false;
  bool launches = false;
  bool has_options = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& text = words[i].text;
    const bool value = has_options && !launches;
    if (text.ends_with(".py") && text.find('=') == std::string::npos && !value) return i;
    const bool other = runs && (text == "--no_python" || text == "--no-python");
    if (other && i + 1 < words.size() && !words[i + 1].text.starts_with('-')) return i + 1;
    const bool module = i > 0 && (words[i - 1].text == "-m" || words[i - 1].text == "--module");
    if (runs && module && !launch_scripts::is_one_of(text, kLaunchers)) return i;
    const std::string name = launch_scripts::path_base_name(text);
    const bool own = i > 0 && may_take_value(words[i - 1].text);
    if (launches && !own && launch_scripts::is_one_of(name, kInstalled)) return i;
    runs = runs || name.starts_with("python") || launch_scripts::is_one_of(name, kRunners);
    launches = launches || runs || name.ends_with(".sh") ||
               !meaning_of_program_setting_word("launchers/programs", "programs", name).empty();
    has_options = has_options || text.starts_with("--");
  }
  return 0;
}

/// Interprets the user's scripts with chosen outcomes for conditions whose outcome the scripts do
/// not determine.
class Scripts {
 public:
  Scripts(Sources files, const UserFacts& given, const StartedProgramRule& program)
      : program_(program) {
    for (const SourceFile& file : files) sources_.push_back({file.name, file.text});
    given_.variables = variables_given(files, given, program, arguments_);
  }

  ShellScriptResult read(const std::map<std::string, std::size_t>& ways = {}) {
    launch_scripts::ShellAssumptions given = given_;
    given.ways = ways;
    ShellScriptResult script = launch_scripts::read_shell_scripts(sources_, given);
    effort_ += script.effort;
    join_argument_lines(script);
    for (ShellCommand& command : script.commands) take_out_open_arguments(command);
    return script;
  }

  [[nodiscard]] const std::vector<std::string>& arguments_given() const { return arguments_; }

  /// Counts one try; true if the limits on tries and steps allow it.
  [[nodiscard]] bool tries() { return ++tries_ <= kMostTries && effort_ <= kMostEffort; }

  /// Returns the commands that start a training job, without repetitions.
  [[nodiscard]] std::vector<const ShellCommand*> jobs(const ShellScriptResult& script) const {
    std::vector<const ShellCommand*> found;
    for (const ShellCommand& command : script.commands) {
      const auto same = [&](const ShellCommand* other) {
        return command_differences(*other, command).empty();
      };
      if (program_.starts(command.words) && std::ranges::none_of(found, same)) {
        found.push_back(&command);
      }
    }
    const auto prepares = [](const ShellCommand* command) {
      return is_data_preparation_program(command->words[place_of_program(command->words)].text);
    };
    if (!std::ranges::all_of(found, prepares)) std::erase_if(found, prepares);
    return found;
  }

 private:
  void take_out_open_arguments(ShellCommand& command) const {
    std::vector<ShellWord> kept;
    for (ShellWord& word : command.words) {
      const bool out = !kept.empty() && holds_arguments(word, kept, program_);
      (out ? command.open_arguments : kept).push_back(std::move(word));
    }
    command.words = std::move(kept);
  }

  /// Joins the lines of a file that contains only arguments into one command.
  static void join_argument_lines(ShellScriptResult& script) {
    const auto arguments = [](const ShellCommand& command) {
      return command.words.front().text.starts_with("--");
    };
    if (script.commands.size() < 2 || !std::ranges::all_of(script.commands, arguments)) return;
    ShellCommand& first = script.commands.front();
    for (std::size_t i = 1; i < script.commands.size(); ++i) {
      std::ranges::move(script.commands[i].words, std::back_inserter(first.words));
    }
    script.commands.resize(1);
  }

  const StartedProgramRule& program_;
  std::vector<launch_scripts::ShellSource> sources_;
  launch_scripts::ShellAssumptions given_;
  std::vector<std::string> arguments_;
  std::size_t tries_ = 0;
  std::size_t effort_ = 0;
};

/// Returns the shell variable or argument number that would set an unknown part of a word ("$TP");
/// empty if there is none.
std::string variable_of(const std::string& place, const ShellScriptResult& script) {
  const auto holder = script.holders.find(place);
  if (holder != script.holders.end()) return holder->second;
  if (!place.starts_with('$')) return "";
  const std::string_view rest = std::string_view(place).substr(place.starts_with("${") ? 2 : 1);
  std::size_t end = 0;
  while (end < rest.size() && launch_scripts::is_shell_name_char(rest[end])) ++end;
  const std::string_view name = rest.substr(0, end);
  return launch_scripts::is_shell_name(name) || is_argument_number(name) ? std::string(name) : "";
}

/// Returns "--set FSDP=VALUE decides it" for the first unknown part that a variable sets; empty if
/// none is.
std::string remedy(const std::vector<std::string>& open, const ShellScriptResult& script) {
  for (const std::string& place : open) {
    const std::string name = variable_of(place, script);
    if (!name.empty()) return fmt::format("--set {}=VALUE states it", name);
  }
  return "";
}

/// Returns the launched programs whose path contains a variable that the script does not set:
/// "torchrun src/$EXPERIMENT".
std::string open_programs(const ShellScriptResult& script) {
  std::string text;
  for (const ShellCommand& command : script.commands) {
    const std::vector<ShellWord>& words = command.words;
    const bool launches = std::ranges::any_of(words, [](const ShellWord& word) {
      return launch_scripts::is_training_launcher_program(
          launch_scripts::path_base_name(word.text));
    });
    if (!launches || place_of_program(words) > 0) continue;
    const auto open = std::ranges::find_if(words, [](const ShellWord& word) {
      return !word.open.empty() && word.text.find('/') != std::string::npos &&
             !word.text.starts_with('-');
    });
    if (open == words.end() || text.size() > 500) continue;
    text += fmt::format("; line {} starts {}, whose name is unknown: {}", command.line,
                        one_line_printable_text(open->text), remedy(open->open, script));
  }
  return text;
}

[[noreturn]] void fail_without_job(const ShellScriptResult& script,
                                   const StartedProgramRule& program) {
  std::string why;
  std::string advice;
  const auto advise = [&](std::string_view construct, std::uint32_t line) {
    if (advice.empty()) {
      advice = launch_scripts::script_capture_advice(construct, line, script.files.front());
    }
  };
  std::set<std::string> missing;
  for (const launch_scripts::MissingScript& one : script.missing) {
    if (!missing.insert(one.path).second) continue;
    advise(one.path, one.line);
    why += fmt::format("; line {} runs {}, which is not among the given files: give it, too",
                       one.line, one_line_printable_text(one.path));
  }
  if (script.ended > 0) {
    advise("the end", script.ended);
    why += fmt::format(
        "; line {} ends it before it starts anything: --set 1=VALUE is its first argument",
        script.ended);
  }
  why += open_programs(script);
  for (const auto& [place, choice] : script.choices) {
    const std::string how = remedy(choice.open, script);
    advise(choice.condition, choice.line);
    why += fmt::format("; line {} is undecided: {}{}{}", choice.line,
                       one_line_printable_text(choice.condition), how.empty() ? "" : ", ", how);
    if (why.size() > 1000) break;
  }
  for (const ShellCommand& command : script.commands) {
    const std::size_t place = place_of_program(command.words);
    const std::string& started = command.words[place].text;
    const bool python = started.ends_with(".py") || started.find('.') < started.find('/');
    if ((python || place > 0) && why.size() < 1000) {
      why += fmt::format("; line {} starts {}, which is none of its programs", command.line,
                         one_line_printable_text(started));
    }
    for (const auto* words : {&command.open_arguments, &command.words}) {
      for (const ShellWord& word : *words) {
        if (!word.open.empty()) advise(word.text, word.line == 0 ? command.line : word.line);
      }
    }
  }
  fail_input(fmt::format("{}: no command has arguments of {} ({}){}{}", script.files.front(),
                         program.framework, program.arguments, why, advice));
}

/// Returns the outcome of the one undetermined condition that must change so that a job is started;
/// empty if there is no such condition.
std::map<std::string, std::size_t> way_to_a_job(Scripts& scripts, const ShellScriptResult& script) {
  std::optional<std::map<std::string, std::size_t>> found;
  for (const auto& [place, choice] : script.choices) {
    for (std::size_t way = 0; way < choice.ways.size(); ++way) {
      if (way == choice.taken || !scripts.tries()) continue;
      const std::map<std::string, std::size_t> one = {{place, way}};
      if (scripts.jobs(scripts.read(one)).empty()) continue;
      if (found) return {};
      found = one;
    }
  }
  return found.value_or(std::map<std::string, std::size_t>());
}

std::string named(const ShellScriptResult& script, const ShellCommand& command) {
  const ShellWord& word = command.words[place_of_program(command.words)];
  return fmt::format("{} ({}:{})", one_line_printable_text(word.text), script.files[command.file],
                     command.line);
}

/// Returns the names of changed arguments: "--lr, --output_dir".
std::string changed_names(const std::vector<CommandDifference>& changed) {
  std::vector<std::string> names;
  for (const CommandDifference& one : changed) {
    if (std::ranges::count(names, one.name) == 0) names.push_back(one.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

/// True if commands differ only in arguments that change neither time, memory nor messages.
bool alike(const std::vector<const ShellCommand*>& jobs, const StartedProgramRule& program) {
  return std::ranges::all_of(jobs, [&](const ShellCommand* job) {
    return std::ranges::none_of(
        command_differences(*jobs.front(), *job),
        [&](const CommandDifference& one) { return program.matters(one.name); });
  });
}

const ShellCommand& picked(const std::vector<const ShellCommand*>& jobs,
                           const ShellScriptResult& script, const UserFacts& given,
                           const StartedProgramRule& program, ImportReport& report) {
  const auto count = static_cast<std::int64_t>(jobs.size());
  if (count == 1 && given.command.value_or(1) == 1) return *jobs.front();
  if (!given.command && alike(jobs, program)) {
    report.notes.push_back(
        fmt::format("{} commands that start {} were read as one command: they differ in {}, which "
                    "changes no figure.",
                    count, named(script, *jobs.front()),
                    changed_names(command_differences(*jobs.front(), *jobs.back()))));
    return *jobs.front();
  }
  std::vector<std::string> lines;
  for (std::int64_t i = 0; i < count; ++i) {
    const ShellCommand& one = *jobs[static_cast<std::size_t>(i)];
    std::string text = fmt::format("{}: {}", i + 1, named(script, one));
    if (i > 0) text += " with " + command_differences_text(command_differences(*jobs.front(), one));
    lines.push_back(std::move(text));
  }
  const std::string all = fmt::format("{} starts {} jobs of {}: {}", script.files.front(), count,
                                      program.framework, fmt::join(lines, "; "));
  if (given.command && *given.command >= 1 && *given.command <= count) {
    report.notes.push_back(fmt::format("Command {} was read; {}.", *given.command, all));
    return *jobs[static_cast<std::size_t>(*given.command - 1)];
  }
  fail_input(given.command
                 ? fmt::format("--command: there is no command {}; {}", *given.command, all)
                 : fmt::format("{}; --command N picks one", all));
}

/// True for launcher options about the rendezvous, which do not change the number of ranks.
bool places_ranks(std::string_view option) {
  static constexpr std::string_view kOptions[] = {
      "--master_addr", "--master-addr",   "--master_port",   "--master-port", "--node_rank",
      "--node-rank",   "--rdzv_endpoint", "--rdzv-endpoint", "--rdzv_id",     "--rdzv-id"};
  return launch_scripts::is_one_of(option, kOptions);
}

/// Reports the undetermined conditions whose other outcome would change the command.
class OpenConditions {
 public:
  OpenConditions(Scripts& scripts, const StartedProgramRule& program, const ShellCommand& taken,
                 std::size_t number, ImportReport& report)
      : scripts_(scripts), program_(program), taken_(taken), number_(number), report_(report) {}

  void add(const ShellScriptResult& script, const std::string& place,
           const launch_scripts::UndeterminedCondition& choice,
           std::map<std::string, std::size_t> ways) {
    std::vector<std::string> others;
    matters_ = SettingImpact::kNo;
    arguments_.clear();
    for (std::size_t way = 0; way < choice.ways.size(); ++way) {
      if (way == choice.taken || !scripts_.tries()) continue;
      ways[place] = way;
      const std::string text = other_way(ways);
      if (!text.empty())
        others.push_back(fmt::format("{}: {}", one_line_printable_text(choice.ways[way]), text));
    }
    if (others.empty()) return;
    std::string open;
    for (const std::string& one : choice.open)
      open += (open.empty() ? "" : ", ") + one_line_printable_text(one);
    const std::string how = remedy(choice.open, script);
    report_.not_read.push_back(
        {one_line_printable_text(choice.condition), choice.ways[choice.taken],
         script.files[choice.file], choice.line, matters_,
         fmt::format("the script does not decide{}{}; {}{}{}", open.empty() ? " it" : " ", open,
                     fmt::join(others, "; "), how.empty() ? "" : "; ", how),
         arguments_});
  }

 private:
  /// Returns how the command would differ for other outcomes; empty if it would not differ, or
  /// nothing would be started.
  std::string other_way(const std::map<std::string, std::size_t>& ways) try {
    const ShellScriptResult script = scripts_.read(ways);
    const auto jobs = scripts_.jobs(script);
    if (jobs.empty()) return "";
    const auto others = number_ < jobs.size() ? command_differences(taken_, *jobs[number_])
                                              : std::vector<CommandDifference>();
    const bool heard = number_ >= jobs.size() || std::ranges::any_of(others, [&](const auto& one) {
                         return program_.matters(one.name) && !places_ranks(one.name);
                       });
    if (heard) matters_ = SettingImpact::kMaybe;
    for (const CommandDifference& one : others) arguments_.push_back(one.name);
    return number_ < jobs.size() ? command_differences_text(others) : "other commands";
  } catch (const Error&) {
    return "";
  }

  Scripts& scripts_;
  const StartedProgramRule& program_;
  const ShellCommand& taken_;
  std::size_t number_;
  ImportReport& report_;
  // Greatest importance among the changes that the outcomes of one condition make.
  SettingImpact matters_ = SettingImpact::kNo;
  std::vector<std::string> arguments_;  ///< Arguments that differ for the other outcomes.
};

/// Reports arguments in a variable that the script does not set, since it can be empty. Fails if a
/// command would print the arguments, since commands are not run.
void leave_out(const ShellWord& word, const StartedCommand& made, const ShellScriptResult& script,
               ImportReport& report) {
  const std::string& file = made.file;
  const std::string how = remedy(word.open, script);
  if (!word.text.starts_with("$(")) {
    report.not_read.push_back(
        {one_line_printable_text(word.text), "", file, word.line, SettingImpact::kMaybe,
         fmt::format("the script does not set this variable, so its arguments are unknown; {}",
                     how)});
    return;
  }
  const std::string whose =
      made.words.empty() ? "the program" : one_line_printable_text(made.words.front().text);
  fail_input(fmt::format(
      "{}:{}: {} prints arguments of {}, and Stepwright does not run it{}{}{}", file, word.line,
      one_line_printable_text(word.text), whose, how.empty() ? "" : ": ", how,
      launch_scripts::script_capture_advice(word.text, word.line, script.files.front())));
}

/// Splits a command into the launchers and the program that they start.
StartedCommand parted(const ShellScriptResult& script, const ShellCommand& command,
                      ImportReport& report) {
  StartedCommand made{.file = script.files[command.file],
                      .script = script.files.front(),
                      .job = command.job,
                      .environment = command.environment,
                      .copies = script.copies};
  const auto first =
      command.words.begin() + static_cast<std::ptrdiff_t>(place_of_program(command.words));
  made.launchers.assign(command.words.begin(), first);
  made.launchers.insert(made.launchers.end(), command.launchers.begin(), command.launchers.end());
  for (const auto& [name, text] : script.written) {
    // As many empty lines are added as the script has before the text, so that line numbers agree.
    const std::size_t before = text.line > 0 ? text.line - 1 : 0;
    made.written[name] = {script.files[text.file], std::string(before, '\n') + text.text};
    for (const std::string& place : text.open) {
      const std::string variable = variable_of(place, script);
      made.open_written.emplace_back(place, variable.empty() ? place : variable);
    }
  }
  const auto placed = [&](ShellWord word) {
    if (word.file != command.file || word.line == 0) word.line = command.line;
    return word;
  };
  for (auto at = first; at != command.words.end(); ++at) made.words.push_back(placed(*at));
  for (const ShellWord& word : command.open_arguments) {
    leave_out(made.left_out.emplace_back(placed(word)), made, script, report);
  }
  // Unknown parts are named by the variable that a person can set.
  const auto name_open = [&](ShellWord& word) {
    for (std::string& place : word.open) {
      if (const std::string name = variable_of(place, script); !name.empty()) place = name;
    }
  };
  std::ranges::for_each(made.words, name_open);
  std::ranges::for_each(made.launchers, name_open);
  std::ranges::for_each(made.left_out, name_open);
  for (auto& [name, value] : made.environment) name_open(value);
  return made;
}

/// Adds a note which task of a job array was read, if scripts use its index.
void note_array(const StartedCommand& command, Sources files, const UserFacts& given,
                ImportReport& report) {
  if (command.job == nullptr || command.job->array.empty()) return;
  const std::string variable(launch_scripts::job_array_index_variable(command.job->scheduler));
  const auto asks = [&](const SourceFile& file) { return mentions(file.text, variable); };
  const auto says = [&](const std::string& setting) { return setting.starts_with(variable + "="); };
  if (std::ranges::none_of(files, asks) || std::ranges::any_of(given.settings, says)) return;
  report.notes.push_back(fmt::format(
      "The job is an array ({}); its first task was read; --set {}=INDEX reads another.",
      one_line_printable_text(command.job->array), variable));
}

/// Returns the options that set all unknown parts of a word: "--set MODEL=VALUE --set SIZE=VALUE".
std::string settings_of(const std::vector<std::string>& open) {
  std::vector<std::string> settings;
  for (const std::string& name : open) {
    std::string one = fmt::format("--set {}=VALUE", one_line_printable_text(name));
    if (std::ranges::count(settings, one) == 0) settings.push_back(std::move(one));
  }
  return fmt::format("{}", fmt::join(settings, " "));
}

/// Returns the variables whose values come from commands that are not run: `$(yq .layers
/// model.yaml)`.
std::vector<std::string> printed_values(Words words) {
  std::vector<std::string> names;
  for (const ShellWord& word : words) {
    const bool printed = word.text.find("$(") != std::string::npos && !word.open.empty();
    if (!printed || std::ranges::count(names, word.open.front()) > 0) continue;
    names.push_back(word.open.front());
  }
  return names;
}

/// Returns ", and so do --set hidden=VALUE, ..." with the other variables of this kind; empty if
/// there are none.
std::string others_printed(const std::vector<std::string>& names, const std::string& but) {
  constexpr std::size_t kMost = 20;
  std::vector<std::string> others;
  if (std::ranges::count(names, but) == 0) return "";
  for (const std::string& name : names) {
    if (name != but && others.size() < kMost) {
      others.push_back(fmt::format("--set {}=VALUE", one_line_printable_text(name)));
    }
  }
  if (others.empty()) return "";
  return fmt::format(" (commands print more values, of which those that matter are asked for: {})",
                     fmt::join(others, " "));
}

}  // namespace

std::size_t torchtune_recipe_argument_index(Words words) {
  static constexpr std::string_view kFlags[] = {"--standalone", "--no-python", "--no_python", "-m",
                                                "--module",     "--run-path",  "--run_path"};
  std::size_t at = 0;
  while (at + 1 < words.size() && (launch_scripts::path_base_name(words[at].text) != "tune" ||
                                   words[at + 1].text != "run")) {
    ++at;
  }
  for (at += 2; at < words.size() && words[at].text.starts_with('-'); ++at) {
    const std::string& text = words[at].text;
    if (text.find('=') == std::string::npos && !launch_scripts::is_one_of(text, kFlags)) ++at;
  }
  return at < words.size() ? at : 0;
}

bool is_data_preparation_program(std::string_view program) {
  static constexpr std::string_view kParts[] = {"prepare", "preprocess", "tokeniz", "download",
                                                "convert", "export_",    "merge_"};
  const std::string name = launch_scripts::path_base_name(program);
  return std::ranges::any_of(
      kParts, [&](std::string_view part) { return name.find(part) != std::string::npos; });
}

bool is_name_value_argument(const std::string& setting) {
  const std::size_t equals = setting.find('=');
  return equals != std::string::npos && setting.find_first_not_of('-') < equals;
}

StartedCommand find_started_command(Sources files, const UserFacts& given,
                                    const StartedProgramRule& program, ImportReport& report) {
  Scripts scripts(files, given, program);
  std::map<std::string, std::size_t> ways;
  ShellScriptResult script = scripts.read();
  if (scripts.jobs(script).empty()) {
    ways = way_to_a_job(scripts, script);
    if (ways.empty()) fail_without_job(script, program);
    script = scripts.read(ways);
  }
  const std::vector<const ShellCommand*> jobs = scripts.jobs(script);
  const ShellCommand& taken = picked(jobs, script, given, program, report);
  if (script.commands.size() > 1 && taken.words.front().text.starts_with("--")) {
    fail_input(fmt::format(
        "{}:{}: a command begins with {}, as the line above it ends before its "
        "backslash: the backslash must be the last character of the line",
        script.files[taken.file], taken.line, one_line_printable_text(taken.words.front().text)));
  }
  const auto number = static_cast<std::size_t>(std::ranges::find(jobs, &taken) - jobs.begin());
  OpenConditions open(scripts, program, taken, number, report);
  for (const auto& [place, choice] : script.choices) {
    open.add(script, place, choice, ways);
  }
  std::set<std::string> listed;
  for (const SettingNotInPlan& one : report.not_read) listed.insert(one.name);
  for (const launch_scripts::MissingScript& one : script.missing) {
    report.missing.emplace_back(one_line_printable_text(one.path),
                                fmt::format("{}:{}", script.files[one.file], one.line));
    if (!listed.insert(one_line_printable_text(one.path)).second) continue;
    report.not_read.push_back({one_line_printable_text(one.path), "", script.files[one.file],
                               one.line, SettingImpact::kMaybe,
                               "it is not among the given files: give it, too"});
  }
  for (const auto& [made, copy] : script.copies) {
    const bool data = made.ends_with(".json") || made.ends_with(".yaml") || made.ends_with(".yml");
    if (!data || copy.program == "cp" || copy.program == "mv" || copy.program == "ln") continue;
    report.not_read.push_back(
        {fmt::format("{} {}", copy.program, one_line_printable_text(copy.source)), "",
         script.files[copy.file], copy.line, SettingImpact::kMaybe,
         fmt::format("what it changes in {}", one_line_printable_text(made))});
  }
  StartedCommand command = parted(script, taken, report);
  note_array(command, files, given, report);
  for (const auto& [place, variable] : command.open_written) {
    report.open_values.emplace_back(
        place, fmt::format("--set {}=VALUE", one_line_printable_text(variable)));
  }
  const std::vector<std::string> printed = printed_values(command.words);
  for (const ShellWord& word : command.words) {
    if (word.open.empty()) continue;
    const std::string how = fmt::format(
        "{}{}{}", settings_of(word.open), others_printed(printed, word.open.front()),
        launch_scripts::script_capture_advice(word.text, word.line, script.files.front()));
    report.open_values.emplace_back(word.text, how);
    const std::size_t equals = word.text.find('=');
    if (equals != std::string::npos)
      report.open_values.emplace_back(word.text.substr(equals + 1), how);
  }
  command.arguments_given = scripts.arguments_given();
  return command;
}

std::vector<TrainingCommandCandidate> find_training_commands(Sources files,
                                                             const UserFacts& given) try {
  const StartedProgramRule any{.starts = [](Words) { return true; },
                               .has_argument = [](const std::string&) { return true; }};
  Scripts scripts(files, given, any);
  const ShellScriptResult script = scripts.read();
  std::vector<TrainingCommandCandidate> looks;
  for (const ShellCommand* command : scripts.jobs(script)) {
    const std::size_t place = place_of_program(command->words);
    const bool python = place > 0 || command->words.front().text.ends_with(".py");
    const bool takes = std::ranges::any_of(command->words, [&](const ShellWord& word) {
      return std::ranges::any_of(word.open, [&](const std::string& open) {
        return is_argument_number(variable_of(open, script));
      });
    });
    looks.push_back({.words = command->words,
                     .program = python ? command->words[place].text : "",
                     .place = fmt::format("{}:{}", script.files[command->file], command->line),
                     .open_arguments = !command->open_arguments.empty(),
                     .takes_script_arguments = takes});
  }
  return looks;
} catch (const Error&) {
  return {};
}

std::vector<ShellWord> StartedCommand::command_words_with_overrides() const {
  std::vector<ShellWord> all = words;
  for (const std::string& setting : arguments_given) {
    const std::size_t equals = setting.find('=');
    const std::size_t first = setting.find_first_not_of('-');
    all.push_back({.text = "--" + setting.substr(first, equals - first)});
    all.push_back({.text = setting.substr(equals + 1)});
  }
  return all;
}

void rethrow_naming_option_for_value(const Error& error, const StartedCommand& command,
                                     const ImportReport& report) {
  for (std::size_t i = 1; i < command.words.size(); ++i) {
    const ShellWord& word = command.words[i];
    if (word.open.empty() || word.text != error.place().value) continue;
    std::string how = fmt::format("{}{}", settings_of(word.open),
                                  others_printed(printed_values(command.words), word.open.front()));
    for (const SettingNotInPlan& one : report.not_read) {
      if (std::ranges::count(one.arguments, command.words[i - 1].text) == 0) continue;
      how += fmt::format(", or decide {} in line {}: {}", one.name, one.line, one.why);
    }
    const std::string advice =
        launch_scripts::script_capture_advice(word.text, word.line, command.script);
    throw UnsetValueError(
        error.kind(),
        fmt::format("{}; the script does not set it: {}{}", error.what(), how, advice),
        error.place());
  }
  throw error;  // The error continues unchanged.
}

}  // namespace stepwright::framework_files
