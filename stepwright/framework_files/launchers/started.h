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

/// Returns the index of the recipe that `tune run` starts, after options of torchrun
/// (meta-pytorch/torchtune torchtune/_cli/run.py); 0 if there is none.
std::size_t place_of_recipe(Words words);

/// How to recognise a framework's programs among all programs that scripts start.
struct StartedProgram {
  std::string_view framework;  ///< Framework name for messages: "Megatron-LM".
  /// Examples of its arguments, for messages: "--tensor-model-parallel-size, ...".
  std::string_view arguments;
  std::function<bool(Words)> starts;  ///< True if a command starts one of the programs.
  /// True if a `NAME=VALUE` of `UserFacts::settings` names an argument, and not a variable.
  std::function<bool(const std::string&)> has_argument;
  /// True if an argument is followed by values.
  std::function<bool(std::string_view)> takes_values = [](std::string_view) { return true; };
  /// True if an argument is followed by any number of values.
  std::function<bool(std::string_view)> takes_list = [](std::string_view) { return false; };
  /// True if an argument can change time, memory or messages of a step.
  std::function<bool(std::string_view)> matters = [](std::string_view) { return true; };
};

/// True if a text is NAME=VALUE, with or without dashes before NAME; serves as `has_argument` of a
/// program that accepts any argument.
bool is_argument_and_value(const std::string& setting);

/// The command that starts a job, and everything that affects it.
struct StartedCommand {
  std::string file;    ///< File that contains the command.
  std::string script;  ///< The script that a person starts, which can run or source `file`.
  std::vector<ShellWord> launchers;  ///< Words before the program, the outermost launcher last.
  /// The program and its arguments. Lines are those of `file`; `open` has names for
  /// `UserFacts::settings`.
  std::vector<ShellWord> words;
  /// Batch job that runs the command; null if none is stated.
  std::shared_ptr<const launch_scripts::Allocation> job;
  std::map<std::string, ShellWord> environment;
  /// Entries of `UserFacts::settings` that name arguments.
  std::vector<std::string> arguments_given;
  /// Files that the script writes, by the last part of their paths, with line numbers in the
  /// script.
  std::map<std::string, SourceFile> written;
  /// Unknown parts of these files, each with the variable that would set it: "$GBS", "GBS".
  std::vector<std::pair<std::string, std::string>> open_written;

  /// Returns the words, followed by the arguments that the user gives.
  [[nodiscard]] std::vector<ShellWord> all_words() const;
};

/// Reads shell scripts: the first is the one that is started, the others are those that it runs or
/// sources. `UserFacts::settings` override its variables, `UserFacts::command` chooses one of
/// several commands. Undetermined conditions that change the command are listed as not read, with
/// the arguments that depend on them, and so are missing scripts. Fails with `kInput` if no command
/// starts a job, if several different ones do and `UserFacts::command` is not set, and for a
/// setting that no script mentions.
StartedCommand started_command(Sources files, const UserFacts& given, const StartedProgram& program,
                               ImportReport& report);

/// True if a program prepares data or converts files, by its name, and trains nothing.
bool is_data_preparation(std::string_view program);

/// A program that a script starts, as a first look finds it.
struct StartedLook {
  std::vector<ShellWord> words;
  std::string program;          ///< A Python file or a module; empty if the program is neither.
  std::string place;            ///< Position of the command in a script: "run.sh:12".
  bool open_arguments = false;  ///< True if some arguments of the command are unknown.
};

/// Returns the programs of any framework that scripts start, as `started_command` reads them; empty
/// if the scripts cannot be read.
std::vector<StartedLook> list_started_programs(Sources files, const UserFacts& given);

/// An error about a value that a script leaves open, with the option that states the value.
struct OpenValueError : Error {
  using Error::Error;
};

/// Throws an error again; an error about a value that a command's script leaves open becomes an
/// `OpenValueError`. `report` has the undetermined conditions.
[[noreturn]] void fail_for_open_value(const Error& error, const StartedCommand& command,
                                      const ImportReport& report);

}  // namespace stepwright::framework_files
