#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace stepwright::capture {

/// The words of a command: the program, then its arguments.
using Words = std::vector<std::string>;

/// A file that a captured command names.
struct CapturedFile {
  std::string path;     ///< Path in the command, relative to the command's folder.
  bool exists = false;  ///< True if the file existed when the command was reached.
  /// The text that the command would have read; present only if the file was changed or removed
  /// before the script ended.
  std::optional<std::string> text;
};

/// A launch that a script reached, and that was written down instead of started.
struct CapturedCommand {
  Words
      launcher;  ///< Words in front of the program: {"srun", "--ntasks-per-node=8"}; may be empty.
  Words argv;    ///< The program and its arguments: {"torchrun", "train.py"}.
  /// Variables that the script changed, and variables that matter for training.
  std::map<std::string, std::string> environment;
  std::string folder;                            ///< The absolute working directory.
  std::optional<std::int64_t> nodes;             ///< nullopt if nothing says how many.
  std::optional<std::int64_t> devices_per_node;  ///< nullopt if nothing says how many.
  std::vector<CapturedFile> files;               ///< Files in the order of the arguments.
  std::string scheduler;                         ///< "slurm", "pbs", "lsf", "sge"; empty: none.
  Words batch_options;                           ///< Options of the batch job, as written.
  std::vector<std::string> left_out;             ///< Names of secrets that were left out.
  std::int64_t count = 1;                        ///< How often the script reached the command.
  std::int64_t hosts = 1;                        ///< Number of different hosts among these calls.
};

/// The launches that a script reached, and what else became of it.
struct Captured {
  /// Commands in the order in which the script reached them.
  std::vector<CapturedCommand> commands;
  std::vector<std::string> ran;      ///< Launchers that really ran, or could have.
  std::vector<std::string> not_run;  ///< Other commands that did nothing, quoted for a shell.
  std::vector<std::string> notes;    ///< Remarks on the record, for people.
  /// Exit code of the script; 128 plus the number of the signal that ended it, 124 at the time
  /// limit.
  int exit_code = 0;
  /// The signal that interrupted the capture; 0: none. Not part of the record.
  int interrupted_by = 0;
};

}  // namespace stepwright::capture
