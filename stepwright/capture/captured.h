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
  /// Text of the file when the command was reached; nullopt unless the file was changed or removed
  /// before the script ended.
  std::optional<std::string> text;
};

/// A launch that a script reached, recorded instead of started.
struct CapturedCommand {
  Words launcher;  ///< Words before the program: {"srun", "--ntasks-per-node=8"}; can be empty.
  Words argv;      ///< The program and its arguments: {"torchrun", "train.py"}.
  /// Variables that the script changed, and variables that matter for training.
  std::map<std::string, std::string> environment;
  std::string folder;                            ///< Absolute working directory of the command.
  std::optional<std::int64_t> nodes;             ///< Nodes of the job; nullopt: unknown.
  std::optional<std::int64_t> devices_per_node;  ///< Devices of each node; nullopt: unknown.
  std::vector<CapturedFile> files;               ///< Files that the arguments name, in their order.
  /// Scheduler of the batch job: "slurm", "pbs", "lsf" or "sge"; empty: none.
  std::string scheduler;
  Words batch_options;  ///< Options of the batch job, as written.
  /// Names of secrets that were removed from the record.
  std::vector<std::string> left_out;
  /// How many times the script reached this command.
  std::int64_t count = 1;
  /// Number of different hosts among these `count` launches.
  std::int64_t hosts = 1;
};

/// The result of a capture: the launches that a script reached, and how the script ended.
struct CaptureResult {
  /// Commands in the order in which the script reached them.
  std::vector<CapturedCommand> commands;
  /// Launchers that really ran instead of a stand-in, or could have.
  std::vector<std::string> ran;
  /// Commands without effect that are no launches, quoted for a shell.
  std::vector<std::string> not_run;
  std::vector<std::string> notes;  ///< Remarks for people, such as missing numbers of devices.
  /// Exit code of the script; 128 plus the signal's number if a signal ended it, 124 at the time
  /// limit.
  int exit_code = 0;
  /// Signal that interrupted the capture; 0: none. The record does not contain it.
  int interrupted_by = 0;
};

}  // namespace stepwright::capture
