#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "stepwright/framework_files/draft/draft.h"

namespace stepwright::framework_files {

/// The experiment file of AMD's Primus with which a script starts training, and the values that
/// fill it in.
struct PrimusRun {
  SourceFile file;
  /// Files other than the experiment and shell scripts that the user gave.
  std::vector<SourceFile> others;
  UserFacts given;  ///< The user's options; the command's overrides are added to the settings.
  /// Environment variables that replace `${NAME}` in the experiment file.
  std::map<std::string, std::string> environment;
};

/// Reads a script that starts Primus: `primus-cli ... -- train pretrain --config FILE`, or
/// run_pretrain.sh and similar scripts with `EXP=FILE`. Fails with `kInput` if no command starts
/// Primus, or if FILE is neither given nor written by the script.
PrimusRun read_primus_script(Sources files, const UserFacts& given, JobRankCounts& extent,
                             StartedTrainingProgram& start, ImportReport& report);

}  // namespace stepwright::framework_files
