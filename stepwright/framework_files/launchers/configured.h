#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/framework_files/draft/draft.h"

namespace stepwright::framework_files {

/// How a training program is started with configuration files: its options for files, and whether
/// NAME=VALUE words override them.
struct ConfigurationFileProgram {
  std::string_view framework;  ///< Name of the training framework, for error messages.
  /// Example of the program's arguments, for messages: "--config FILE.yaml".
  std::string_view arguments;
  /// Name of the program's import target ("nemo-rl"); the rules in its `target.yaml` recognise
  /// commands that start the program.
  std::string_view target;
  /// Options of the program whose value names a configuration file.
  std::span<const std::string_view> options;
  /// True if a word that is not an option also names a configuration file, with or without its
  /// ending `.yml`.
  bool unnamed = false;
  /// True if NAME=VALUE words of the command that starts the program override its configuration
  /// files.
  bool overrides = false;
  /// True if Hydra parses the program's command line, and so refuses words that it cannot parse.
  bool hydra = false;
  /// True if the training program itself starts one process for each device of a node, without a
  /// launcher such as torchrun.
  bool starts_processes = false;
};

/// A training program's run as a script starts it. `files`: the configuration files that the
/// command names, then the other given files. `given.settings`: the NAME=VALUE overrides of command
/// and user.
struct ConfigurationFileRun {
  std::vector<SourceFile> files;
  UserFacts given;
  /// Words of the command that override its configuration files, as written: NAME=VALUE, ~NAME;
  /// empty: the program has no such words.
  std::vector<std::string> words;
};

/// Reads a shell script that starts a training program with configuration files; numbers of nodes
/// and devices come from the launcher (torchrun, srun). Fails with `kInput` if no command starts
/// the program, or if a file that it names is neither given nor written by the script.
ConfigurationFileRun read_run_from_configuration_files(Sources files, const UserFacts& given,
                                                       const ConfigurationFileProgram& program,
                                                       JobRankCounts& extent,
                                                       StartedTrainingProgram& start,
                                                       ImportReport& report);

}  // namespace stepwright::framework_files
