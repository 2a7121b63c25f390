#pragma once

#include <string>
#include <vector>

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/recognition/sources.h"

namespace stepwright::framework_files {

/// Files, user options and device count for a Megatron-Bridge performance recipe that a shell
/// script starts.
struct MegatronBridgeRecipeRun {
  /// Files other than shell scripts that the user gave; the one that defines the recipe is first.
  std::vector<SourceFile> files;
  /// Options that the user gave for the import, completed with what the script states: the Python
  /// function that returns the recipe, and the values that its command line overrides.
  UserFacts given;
  /// Value of `--num_gpus`, devices of the whole job; nullopt if absent.
  std::optional<std::int64_t> devices;
};

/// Reads a shell script that starts scripts/performance/run_script.py of Megatron-Bridge (or
/// setup_experiment.py, which submits that script). Fails with `kInput` if no command starts it, or
/// if the recipe's files were not given.
MegatronBridgeRecipeRun read_megatron_bridge_script(Sources files, const UserFacts& given,
                                                    JobRankCounts& extent,
                                                    StartedTrainingProgram& start,
                                                    ImportReport& report);

}  // namespace stepwright::framework_files
