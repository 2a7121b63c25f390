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

/// A word of a command after quotes are gone and variables that the script sets are filled in. What
/// it does not set stays as it was written (`$MASTER_ADDR`).
struct ShellWord {
  std::string text;
  std::uint32_t line = 0;           ///< Where its text stands, from 1.
  std::uint32_t file = 0;           ///< An index into `ShellScript::files`.
  std::vector<std::string> open{};  ///< Parts that the script does not set: "$MASTER_ADDR".
};

/// A program that a script starts.
struct ShellCommand {
  std::vector<ShellWord> words;  ///< Without assignments in front and redirections.
  /// Words that are open and hold arguments, taken out of `words` by a reader that knows the
  /// program.
  std::vector<ShellWord> open_arguments;
  /// Words of commands around it: `srun -N 4` of `srun bash -c ...`.
  std::vector<ShellWord> launchers;
  std::map<std::string, ShellWord> environment;  ///< Variables that it sees.
  /// Batch job of the command; null if none is stated.
  std::shared_ptr<const Allocation> job;
  std::uint32_t line = 0;
  std::uint32_t file = 0;
};

/// A condition whose values the script does not say.
struct OpenChoice {
  std::string condition;  ///< As it is written.
  /// Open parts of the condition: "$FSDP", "-f $FILE"; may be empty.
  std::vector<std::string> open;
  std::vector<std::string> ways;  ///< Ways that can follow, in words: "true", "false", "7B)".
  std::size_t taken = 0;          ///< Index of the taken way in `ways`.
  std::uint32_t line = 0;
  std::uint32_t file = 0;
};

/// A file that a script goes on with and that is not among those that were given.
struct MissingScript {
  std::string path;
  std::uint32_t line = 0;
  std::uint32_t file = 0;
};

/// A file that a script writes, with a heredoc or lines of `echo`.
struct ShellWritten {
  std::string text;
  std::uint32_t line = 0;  ///< Number of its first line in the script.
  std::uint32_t file = 0;
  std::vector<std::string> open{};  ///< Parts that the script does not set: "$GBS".
};

/// Programs that shell scripts start. Nothing of the scripts is executed.
struct ShellScript {
  std::vector<std::string> files;  ///< Names of the given ones, as they were given.
  std::vector<ShellCommand> commands;
  std::map<std::string, OpenChoice> choices;  ///< Open conditions, by place.
  std::vector<MissingScript> missing;
  /// Files that the script writes, by the last part of their paths.
  std::map<std::string, ShellWritten> written;
  std::size_t effort = 0;  ///< Effort of reading, in about steps.
  /// Variables that hold no more than something open, by that: "$2", "$(nvidia-smi -L)".
  std::map<std::string, std::string> holders;
  std::uint32_t ended = 0;  ///< The line of an `exit` that was come to; 0: none.
};

/// A script that was given.
struct ShellSource {
  std::string name;
  std::string_view text;
};

/// Values taken in place of what scripts say.
struct ShellGiven {
  /// Values of variables, which no assignment changes; "1": an argument.
  std::map<std::string, std::string> variables;
  std::map<std::string, std::size_t> ways;  ///< Indices of ways of `ShellScript::choices`.
};

/// Reads the first script as bash would run it, and of the others what it goes on with: by
/// `source`, `bash FILE`, `sbatch FILE`. Decides conditions, cases and loops where their values are
/// known. Where they are not, unset variables count as empty, files as missing and programs as
/// successful, and a branch that only ends the script is not taken; `ShellScript::choices` has
/// them. Fails with `kInput` where the text is no script (control characters, something that never
/// closes), on a script that includes itself, and beyond 1 MiB of text, 100,000 words or steps, or
/// 16 MiB of what variables hold.
ShellScript read_shell_scripts(std::span<const ShellSource> sources, const ShellGiven& given = {});

}  // namespace stepwright::launch_scripts
