#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/framework_files/draft/draft.h"

namespace stepwright::framework_files {

/// A program that is started with files of its configuration.
struct ConfiguredProgram {
  std::string_view framework;                 ///< As people call it.
  std::string_view arguments;                 ///< Arguments that it takes: "--config FILE.yaml".
  std::string_view target;                    ///< Whose commands start it.
  std::span<const std::string_view> options;  ///< That name a file.
  bool unnamed = false;    ///< Words behind the program name files, too, also without `.yml`.
  bool overrides = false;  ///< Words NAME=VALUE stand over the files.
  bool hydra = false;      ///< Whether Hydra reads those words.
};

/// The files that a script starts such a program with, those beside them last, and what stands over
/// them in the place of `Given::settings`.
struct ConfiguredRun {
  std::vector<SourceFile> files;
  Given given;
  std::vector<std::string> words;  ///< Behind the program, which are no options, as they stand.
};

/// Reads a script that starts such a program: its files are among those that are given, or written
/// by it; nodes and devices are those of its launcher. Fails as `started_command`, and with
/// `kInput` where a file that it names was not given.
ConfiguredRun read_configured(Sources files, const Given& given, const ConfiguredProgram& program,
                              JobExtent& extent, ProgramStart& start, ImportReport& report);

}  // namespace stepwright::framework_files
