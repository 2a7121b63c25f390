#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/recognition/sources.h"

namespace stepwright::framework_files {

/// Returns the index of the recipe's name among the words of a torchtune command `tune run
/// [torchrun options] RECIPE` (meta-pytorch/torchtune torchtune/_cli/run.py); 0 for other commands.
std::size_t torchtune_recipe_argument_index(Words words);

/// How to recognise a framework's training programs among the commands of shell scripts, and how to
/// split their arguments.
struct StartedProgramRule {
  /// Name of the training framework, for error messages: "Megatron-LM".
  std::string_view framework;
  /// Examples of the programs' arguments, for messages: "--tensor-model-parallel-size, ...".
  std::string_view arguments;
  /// Callback that is true if a shell command starts one of the framework's training programs.
  std::function<bool(Words)> starts;
  /// Callback that is true if the user's setting `NAME=VALUE` names an argument of the training
  /// program; otherwise it is a shell variable.
  std::function<bool(const std::string&)> has_argument;
  /// Callback that is true if an argument of the program ("--lr") takes values, so that the next
  /// word is not an argument of its own.
  std::function<bool(std::string_view)> takes_values = [](std::string_view) { return true; };
  /// Callback that is true if an argument of the program takes a list of values of any length.
  std::function<bool(std::string_view)> takes_list = [](std::string_view) { return false; };
  /// Callback that is true if an argument of the program can change time, memory or communication
  /// of a training step.
  std::function<bool(std::string_view)> matters = [](std::string_view) { return true; };
};

/// True if a user's setting has the form NAME=VALUE or --NAME=VALUE, for programs that accept any
/// argument (`StartedProgramRule::has_argument`).
bool is_name_value_argument(const std::string& setting);

/// The command in a shell script that starts a training job: launchers, program, arguments,
/// environment, and files that the script writes.
struct StartedCommand {
  std::string file;    ///< File that contains the command.
  std::string script;  ///< The script that a person starts, which can run or source `file`.
  /// Words before the program, such as `torchrun` and its options; the outermost launcher is last.
  std::vector<ShellWord> launchers;
  /// The program and its arguments, with line numbers in `file`. `open` of a word lists the shell
  /// variables without a value, which the user can set.
  std::vector<ShellWord> words;
  /// Allocation of the batch job (Slurm, PBS) that runs the command; null if the script states
  /// none.
  std::shared_ptr<const launch_scripts::BatchJobAllocation> job;
  std::map<std::string, ShellWord> environment;
  /// The user's settings `NAME=VALUE` that override arguments of the command.
  std::vector<std::string> arguments_given;
  /// Files that the script writes (`cat > FILE <<EOF`), by file name without folders; line numbers
  /// are those in the script.
  std::map<std::string, SourceFile> written;
  /// Files that the script makes of others (`cp A B`, `sed EXPR A > B`), by file name without
  /// folders.
  std::map<std::string, launch_scripts::ShellFileCopy> copies;
  /// Words that are missing from the command because they contain variables which the script does
  /// not set.
  std::vector<ShellWord> left_out;
  /// Unknown parts of the files that the script writes, each with the shell variable that would set
  /// it: "$GBS", "GBS".
  std::vector<std::pair<std::string, std::string>> open_written;

  /// Returns program and arguments, followed by the arguments with which the user overrides them.
  [[nodiscard]] std::vector<ShellWord> command_words_with_overrides() const;
};

/// Interprets shell scripts, of which the first is run, and returns the command that starts the
/// program. The user's settings override shell variables; conditions of unknown outcome are
/// reported. Fails with `kInput` if no command starts it, or if several do and the user chose none.
StartedCommand find_started_command(Sources files, const UserFacts& given,
                                    const StartedProgramRule& program, ImportReport& report);

/// True if a program's name says that it prepares data or converts files, so that it trains
/// nothing.
bool is_data_preparation_program(std::string_view program);

/// A command that a script runs, found by a quick search before it is known which framework it
/// belongs to.
struct TrainingCommandCandidate {
  std::vector<ShellWord> words;
  /// The started Python file or module; empty if the command starts neither.
  std::string program;
  std::string place;            ///< Position of the command in a script: "run.sh:12".
  bool open_arguments = false;  ///< True if some arguments of the command are unknown.
  /// True if an argument contains an argument of the script, which is unknown ("--config $1").
  bool takes_script_arguments = false;
};

/// Returns the commands that scripts run and that may start a training program of any framework;
/// empty if the scripts cannot be interpreted.
std::vector<TrainingCommandCandidate> find_training_commands(Sources files, const UserFacts& given);

/// Error about a value that is unknown because a script does not set it; the message names the
/// option that states it (`--set NAME=VALUE`).
struct UnsetValueError : Error {
  using Error::Error;
};

/// Rethrows an error; if it is about a value that the command's script does not set, throws an
/// `UnsetValueError` that names the option to set it. `report` lists the conditions of unknown
/// outcome.
[[noreturn]] void rethrow_naming_option_for_value(const Error& error, const StartedCommand& command,
                                                  const ImportReport& report);

}  // namespace stepwright::framework_files
