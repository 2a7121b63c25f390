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

/// The place of the recipe that `tune run` starts, behind options of torchrun:
/// meta-pytorch/torchtune torchtune/_cli/run.py. 0: there is none.
std::size_t place_of_recipe(Words words);

/// The programs of a framework among all that scripts start.
struct StartedProgram {
  std::string_view framework;         ///< As people call it: "Megatron-LM".
  std::string_view arguments;         ///< Some that it takes: "--tensor-model-parallel-size, ...".
  std::function<bool(Words)> starts;  ///< Whether a command starts one.
  /// Whether `NAME=VALUE` of `Given::settings` names an argument of it, and no variable.
  std::function<bool(const std::string&)> has_argument;
  /// Whether values follow an argument.
  std::function<bool(std::string_view)> takes_values = [](std::string_view) { return true; };
  /// Whether any number of values follow an argument.
  std::function<bool(std::string_view)> takes_list = [](std::string_view) { return false; };
  /// Whether an argument can change time, memory or messages of a step.
  std::function<bool(std::string_view)> matters = [](std::string_view) { return true; };
};

/// Whether a text is NAME=VALUE, NAME with or without leading dashes: `has_argument` of a program
/// that takes any.
bool is_argument_and_value(const std::string& setting);

/// The command that starts a job, and what it sees.
struct StartedCommand {
  std::string file;    ///< In which it stands.
  std::string script;  ///< The script that a person starts, which may go on with `file`.
  std::vector<ShellWord> launchers;  ///< Words in front of the program, the outermost last.
  /// The program and its arguments; lines are of `file`, `open` has names for `Given::settings`.
  std::vector<ShellWord> words;
  /// Batch job that runs the command; null: none is said.
  std::shared_ptr<const launch_scripts::Allocation> job;
  std::map<std::string, ShellWord> environment;
  std::vector<std::string> arguments_given;  ///< `Given::settings` that name arguments.
  /// Files that the script writes, by the last part of their paths; their lines are of the script.
  std::map<std::string, SourceFile> written;
  /// Expressions that these files leave open, each with the variable that would say it: "$GBS",
  /// "GBS".
  std::vector<std::pair<std::string, std::string>> open_written;

  /// The words, and behind them the arguments that a person gives.
  [[nodiscard]] std::vector<ShellWord> all_words() const;
};

/// Reads shell scripts, of which the first is the one that is started and the others those that it
/// goes on with; `Given::settings` stand in the place of its variables, `Given::command` picks one
/// of several commands. Conditions that are open and change the command are listed as not read,
/// with what hangs on them, as are files that it goes on with and that were not given. Fails with
/// `kInput` where no command or, without `Given::command`, several different ones start a job, and
/// on a setting that no script mentions.
StartedCommand started_command(Sources files, const Given& given, const StartedProgram& program,
                               ImportReport& report);

/// True if the name of a program says that it prepares data or converts files, and trains nothing.
bool prepares_data(std::string_view program);

/// A program that a script starts.
struct StartedLook {
  std::vector<ShellWord> words;
  std::string program;          ///< A file of Python or a module; empty where it is neither.
  std::string place;            ///< Place in a script: "run.sh:12".
  bool open_arguments = false;  ///< True if arguments of the command are not known.
};

/// Lists the programs of any framework that scripts start, as `started_command` reads them; empty
/// if the scripts cannot be read.
std::vector<StartedLook> look_at_started(Sources files, const Given& given);

/// An error about a value that a script leaves open, which says with what to settle it.
struct OpenValueError : Error {
  using Error::Error;
};

/// Throws an error again; one about a value that a command's script leaves open becomes an
/// `OpenValueError`. `report`: with the open conditions.
[[noreturn]] void fail_for_open_value(const Error& error, const StartedCommand& command,
                                      const ImportReport& report);

}  // namespace stepwright::framework_files
