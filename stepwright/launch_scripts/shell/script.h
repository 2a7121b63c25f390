#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/launch_scripts/batch/allocation.h"

namespace stepwright::launch_scripts {

/// A word of a command after quotes are removed and variables are expanded. A variable that the
/// script does not set stays as written (`$MASTER_ADDR`).
struct ShellWord {
  std::string text;
  std::uint32_t line = 0;  ///< Number of the line on which the word's text is written, from 1.
  std::uint32_t file = 0;  ///< Index of the word's file in `ShellScriptResult::files`.
  /// Parts of the text whose value the script does not set, as written: "$MASTER_ADDR".
  std::vector<std::string> open{};
};

/// A program that a shell script starts, with its arguments, environment and batch job.
struct ShellCommand {
  /// Words of the command, without leading assignments and redirections.
  std::vector<ShellWord> words;
  /// Words of unknown value that stand for arguments of the command ("$EXTRA_ARGS"); code that
  /// knows the program's options moves them here from `words`.
  std::vector<ShellWord> open_arguments;
  /// Words of the launchers in front of this command: `srun -N 4` in `srun -N 4 bash -c ...`.
  std::vector<ShellWord> launchers;
  /// Environment variables that the started program sees, by name.
  std::map<std::string, ShellWord> environment;
  /// Batch job in which the command runs; null if the scripts state none.
  std::shared_ptr<const BatchJobAllocation> job;
  std::uint32_t line = 0;
  std::uint32_t file = 0;
};

/// A condition, loop or case whose outcome the script does not determine.
struct UndeterminedCondition {
  std::string condition;  ///< The undetermined condition as the script has it.
  /// Unknown parts of the condition: "$FSDP", "-f $FILE"; empty if it has none.
  std::vector<std::string> open;
  /// Possible outcomes of a condition that the script does not determine, as texts: "true",
  /// "false", "7B)".
  std::vector<std::string> ways;
  /// Index in `ways` of the outcome that is assumed for the undetermined condition.
  std::size_t taken = 0;
  std::uint32_t line = 0;
  std::uint32_t file = 0;
};

/// A file that a script runs or sources, but that the user did not pass in.
struct MissingScript {
  std::string path;
  std::uint32_t line = 0;
  std::uint32_t file = 0;
};

/// A file that a shell script writes, with a heredoc or lines of `echo`.
struct ShellWrittenFile {
  std::string text;
  std::uint32_t line = 0;  ///< Line in the script where the file's text begins.
  std::uint32_t file = 0;
  /// Parts of the file's text whose value the script does not set, as written: "$GBS".
  std::vector<std::string> open{};
};

/// A file that a shell script makes of another one, or changes: `cp A B`, `sed EXPR A > B`.
struct ShellFileCopy {
  std::string source;   ///< Name of the file that the script copies, without folders.
  std::string program;  ///< Program that makes the copy: "cp", "sed".
  std::uint32_t line = 0;
  std::uint32_t file = 0;
};

/// The result of interpreting shell scripts: the programs that they start. Nothing was executed.
struct ShellScriptResult {
  /// Names of the script files, in the order in which the caller passed them in.
  std::vector<std::string> files;
  std::vector<ShellCommand> commands;
  /// Conditions whose outcome the scripts do not determine, by their position in the scripts.
  std::map<std::string, UndeterminedCondition> choices;
  std::vector<MissingScript> missing;
  /// Files that the script writes, by file name without folders.
  std::map<std::string, ShellWrittenFile> written;
  /// Files that the script copies from other files or changes, by file name without folders.
  std::map<std::string, ShellFileCopy> copies;
  /// Number of interpretation steps that the scripts took, a measure of work.
  std::size_t effort = 0;
  /// Maps an unknown part of the scripts ("$2", "$(nvidia-smi -L)") to the shell variable that has
  /// exactly this value, so that a user can set the variable instead.
  std::map<std::string, std::string> holders;
  /// Line of the `exit` command that ended the scripts; 0: none was reached.
  std::uint32_t ended = 0;
};

/// A script that the caller passes in.
struct ShellSource {
  std::string name;
  std::string_view text;
};

/// Values of variables and outcomes of conditions that a user assumes; they override what the
/// scripts set or leave undetermined.
struct ShellAssumptions {
  /// Assumed values of variables by name, which no assignment in the scripts changes; "1" is the
  /// scripts' first argument.
  std::map<std::string, std::string> variables;
  /// Assumed outcomes of undetermined conditions: for a key of `ShellScriptResult::choices`, the
  /// index in its `ways`.
  std::map<std::string, std::size_t> ways;
};

/// Interprets the first script as bash would run it, and the parts of the others that it runs or
/// sources: by `source`, `bash FILE`, `sbatch FILE`. Decides conditions, cases and loops whose
/// values are known.
/// In an undetermined condition unset variables count as empty, files as missing and programs as
/// successful, and a branch that only ends the script is not taken; `ShellScriptResult::choices`
/// lists these conditions. Fails with `kInput` if the text is no script (control characters,
/// something that never closes), for a script that includes itself, and beyond 1 MiB of text,
/// 100,000 words or steps, or 16 MiB of variables' values.
ShellScriptResult read_shell_scripts(std::span<const ShellSource> sources,
                                     const ShellAssumptions& given = {});

}  // namespace stepwright::launch_scripts
