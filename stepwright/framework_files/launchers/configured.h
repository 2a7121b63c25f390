#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/framework_files/draft/draft.h"

namespace stepwright::framework_files {

/// A program that is started with configuration files.
struct ConfiguredProgram {
  std::string_view framework;  ///< Framework name for messages.
  /// Arguments of the program, for messages: "--config FILE.yaml".
  std::string_view arguments;
  /// Target whose start marks recognise the program's commands.
  std::string_view target;
  /// Options of the program whose value names a configuration file.
  std::span<const std::string_view> options;
  /// True if words after the program also name files, with or without `.yml`.
  bool unnamed = false;
  bool overrides = false;  ///< True if NAME=VALUE words override the files.
  bool hydra = false;      ///< True if Hydra reads the NAME=VALUE words.
};

/// The configuration files with which a script starts such a program, then the other given files;
/// and the command's overrides in `UserFacts::settings`.
struct ConfiguredRun {
  std::vector<SourceFile> files;
  UserFacts given;
  std::vector<std::string> words;  ///< Words after the program that are not options, as written.
};

/// Reads a script that starts such a program. Its files must be given, or written by the script;
/// nodes and devices are those of its launcher. Fails like `started_command`, and with `kInput` if
/// a file that the command names was not given.
ConfiguredRun read_configured(Sources files, const UserFacts& given,
                              const ConfiguredProgram& program, JobExtent& extent,
                              ProgramStart& start, ImportReport& report);

}  // namespace stepwright::framework_files
