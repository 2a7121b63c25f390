#pragma once

#include <string>
#include <vector>

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/recognition/sources.h"

namespace stepwright::framework_files {

/// A run of Megatron-Bridge's performance recipes that a script starts.
struct BridgeRun {
  std::vector<SourceFile> files;  ///< Files that were given with the scripts.
  /// The user's facts, with the recipe's function, and with settings that override the recipe.
  UserFacts given;
  std::optional<std::int64_t> devices;  ///< Number of devices in `--num_gpus`; nullopt: absent.
};

/// Reads a script that starts scripts/performance/run_script.py of Megatron-Bridge (or
/// setup_experiment.py, which submits that script). Fails like `started_command`, and with
/// `kInput`, naming them, if the files of the recipe were not given.
BridgeRun read_bridge_script(Sources files, const UserFacts& given, JobExtent& extent,
                             ProgramStart& start, ImportReport& report);

}  // namespace stepwright::framework_files
