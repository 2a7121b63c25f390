#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "stepwright/framework_files/draft/draft.h"

namespace stepwright::framework_files {

/// An experiment of Primus as a script starts it.
struct PrimusRun {
  SourceFile file;
  std::vector<SourceFile> others;  ///< The other files that are given, without scripts.
  Given given;  ///< With the overrides of the command in the place of the settings.
  /// Variables that the experiment's `${NAME}` can see.
  std::map<std::string, std::string> environment;
};

/// Reads a script that starts Primus: `primus-cli ... -- train pretrain --config FILE`, or its
/// run_pretrain.sh and those like it with `EXP=FILE`; the file is among those that are given or
/// written by the script. Fails as `started_command`, and with `kInput` where it was not given.
PrimusRun read_primus_script(Sources files, const Given& given, JobExtent& extent,
                             ProgramStart& start, ImportReport& report);

}  // namespace stepwright::framework_files
