#pragma once

#include <map>
#include <span>
#include <string>

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/launch_scripts/shell/script.h"

namespace stepwright::framework_files {

/// An experiment of Primus as a script starts it.
struct PrimusRun {
  launch_scripts::SourceFile file;
  Given given;  ///< With the overrides of the command in the place of the settings.
  std::map<std::string, std::string> environment;  ///< What the experiment's `${NAME}` can see.
};

/// Reads a script that starts Primus: `primus-cli ... -- train pretrain --config FILE`, or its
/// run_pretrain.sh and those like it with `EXP=FILE`; the file is among those that are given or
/// written by the script. Fails as `started_command`, and with `kInput` where it was not given.
PrimusRun read_primus_script(std::span<const launch_scripts::SourceFile> files, const Given& given,
                             Draft& draft);

/// Whether a command starts Primus.
bool starts_primus(std::span<const launch_scripts::ShellWord> words);

/// Whether a script may start it.
bool is_primus_script(const launch_scripts::SourceFile& file);

}  // namespace stepwright::framework_files
