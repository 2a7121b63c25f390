#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "stepwright/framework_files/draft/draft.h"

namespace stepwright::framework_files {

/// A Primus experiment that a script starts.
struct PrimusRun {
  SourceFile file;
  std::vector<SourceFile> others;  ///< The other given files that are not scripts.
  UserFacts given;  ///< The user's facts, with overrides from the command as settings.
  /// Variables for the experiment's `${NAME}`.
  std::map<std::string, std::string> environment;
};

/// Reads a script that starts Primus: `primus-cli ... -- train pretrain --config FILE`, or Primus's
/// run_pretrain.sh and similar scripts with `EXP=FILE`. The file must be given, or written by the
/// script. Fails like `started_command`, and with `kInput` if the file was not given.
PrimusRun read_primus_script(Sources files, const UserFacts& given, JobExtent& extent,
                             ProgramStart& start, ImportReport& report);

}  // namespace stepwright::framework_files
