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
  std::uint32_t line = 0;  ///< Line number of the word's text, from 1.
  std::uint32_t file = 0;  ///< Index of the word's file in `ShellScript::files`.
  /// Parts of the text that the script does not set, as written: "$MASTER_ADDR".
  std::vector<std::string> open{};
};

/// A program that a script starts.
struct ShellCommand {
  /// Words of the command, without leading assignments and redirections.
  std::vector<ShellWord> words;
  /// Words of unknown value that stand for arguments; a reader that knows the program moves them
  /// here from `words`.
  std::vector<ShellWord> open_arguments;
  /// Words of commands around this one: `srun -N 4` of `srun bash -c ...`.
  std::vector<ShellWord> launchers;
  std::map<std::string, ShellWord> environment;  ///< Variables that the program sees.
  /// Batch job that runs the command; null if none is stated.
  std::shared_ptr<const Allocation> job;
  std::uint32_t line = 0;
  std::uint32_t file = 0;
};

/// A condition, loop or case whose outcome the script does not determine.
struct OpenChoice {
  std::string condition;  ///< The condition as it is written.
  /// Unknown parts of the condition: "$FSDP", "-f $FILE"; can be empty.
  std::vector<std::string> open;
  std::vector<std::string> ways;  ///< Possible outcomes in words: "true", "false", "7B)".
  std::size_t taken = 0;          ///< Index in `ways` of the assumed outcome.
  std::uint32_t line = 0;
  std::uint32_t file = 0;
};

/// A file that a script runs or sources and that was not given.
struct MissingScript {
  std::string path;
  std::uint32_t line = 0;
  std::uint32_t file = 0;
};

/// A file that a script writes, with a heredoc or lines of `echo`.
struct ShellWrittenFile {
  std::string text;
  std::uint32_t line = 0;  ///< Line in the script where the file's text begins.
  std::uint32_t file = 0;
  /// Parts of the text that the script does not set, as written: "$GBS".
  std::vector<std::string> open{};
};

/// The result of interpreting shell scripts: the programs that they start. Nothing was executed.
struct ShellScript {
  std::vector<std::string> files;  ///< Names of the given files, in the order given.
  std::vector<ShellCommand> commands;
  /// Undetermined conditions, by position in the scripts.
  std::map<std::string, OpenChoice> choices;
  std::vector<MissingScript> missing;
  /// Files that the script writes, by file name without folders.
  std::map<std::string, ShellWrittenFile> written;
  std::size_t effort = 0;  ///< Effort of reading the scripts, in interpretation steps.
  /// Variables that hold nothing but one unknown part, by that part: "$2", "$(nvidia-smi -L)".
  std::map<std::string, std::string> holders;
  std::uint32_t ended = 0;  ///< Line of an `exit` that was reached; 0: none.
};

/// A script that the caller passes in.
struct ShellSource {
  std::string name;
  std::string_view text;
};

/// Values and outcomes that override what the scripts say or leave undetermined.
struct ShellAssumptions {
  /// Values of variables, which no assignment changes; "1" is the first argument.
  std::map<std::string, std::string> variables;
  /// For a key of `ShellScript::choices`, the index in `ways` to take.
  std::map<std::string, std::size_t> ways;
};

/// Interprets the first script as bash would run it, and the parts of the others that it runs or
/// sources: by `source`, `bash FILE`, `sbatch FILE`. Decides conditions, cases and loops whose
/// values are known.
/// In an undetermined condition unset variables count as empty, files as missing and programs as
/// successful, and a branch that only ends the script is not taken; `ShellScript::choices` lists
/// these conditions.
/// Fails with `kInput` if the text is no script (control characters, something that never closes),
/// for a script that includes itself, and beyond 1 MiB of text, 100,000 words or steps, or 16 MiB
/// of variables' values.
ShellScript read_shell_scripts(std::span<const ShellSource> sources,
                               const ShellAssumptions& given = {});

}  // namespace stepwright::launch_scripts
