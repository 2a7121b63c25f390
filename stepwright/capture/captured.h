#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace stepwright::capture {

/// The words of a command: the program, then its arguments.
using Words = std::vector<std::string>;

/// A file that is named in the arguments of a recorded launch command.
struct CapturedFile {
  /// Path as written in the command, relative to the command's working directory.
  std::string path;
  bool exists = false;  ///< True if the file existed when the command was recorded.
  /// Text of the file when the command was recorded; nullopt unless the file was changed or removed
  /// before the script ended.
  std::optional<std::string> text;
};

/// A launch command that the script wanted to run; it was recorded instead of started.
struct CapturedLaunchCommand {
  /// Words in front of the program: {"srun", "--ntasks-per-node=8"}; may be empty.
  Words launcher;
  Words argv;  ///< Program and arguments of the recorded command: {"torchrun", "train.py"}.
  /// Environment variables of the command that the script changed or that matter for training.
  std::map<std::string, std::string> environment;
  std::string folder;  ///< Absolute path of the directory in which the command was to run.
  std::optional<std::int64_t> nodes;  ///< Number of nodes of the command's job; nullopt: unknown.
  /// Number of devices of each node of the job; nullopt: unknown.
  std::optional<std::int64_t> devices_per_node;
  std::vector<CapturedFile> files;  ///< Files that the command's arguments name, in order.
  /// Scheduler of the batch job in which the command was reached: "slurm", "pbs", "lsf" or "sge";
  /// empty: none.
  std::string scheduler;
  Words batch_options;  ///< Options of the batch job (such as #SBATCH lines), as written.
  /// Names of the variables and options left out of the record because they hold secrets.
  std::vector<std::string> left_out;
  /// Number of times that the script reached this launch command or an equivalent one.
  std::int64_t count = 1;
  /// Number of different hosts on which the `count` merged launches would run.
  std::int64_t hosts = 1;
};

/// The result of running a launch script to record its launches: the launch commands, and how the
/// script ended.
struct ScriptCaptureResult {
  /// Recorded launch commands, in the order in which the script reached them.
  std::vector<CapturedLaunchCommand> commands;
  /// Names of launchers that ran for real instead of being recorded, or may have.
  std::vector<std::string> ran;
  /// Commands that were skipped although they are no launches, quoted for a shell.
  std::vector<std::string> not_run;
  /// Notes for the user about the recording, for example that the number of devices is unknown.
  std::vector<std::string> notes;
  /// Exit code of the script; 128 plus the signal's number if a signal ended it; 124 if it ran too
  /// long.
  int exit_code = 0;
  /// Number of the signal that interrupted the recording of launches; 0: none. Not written to the
  /// record file.
  int interrupted_by = 0;
};

}  // namespace stepwright::capture
