#pragma once

#include <string>
#include <vector>

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/recognition/sources.h"

namespace stepwright::framework_files {

/// A run of Megatron-Bridge's performance recipes, as a script starts it.
struct BridgeRun {
  std::vector<SourceFile> files;  ///< Files that were given beside the scripts.
  Given given;  ///< With the recipe's function, and what stands over the recipe as settings.
  std::optional<std::int64_t> devices;  ///< Devices that `--num_gpus` asks for; nullopt: absent.
};

/// Reads a script that starts scripts/performance/run_script.py of Megatron-Bridge (or
/// setup_experiment.py, which submits it). Fails as `started_command`, and with `kInput` where the
/// files of the recipe are not given, naming them.
BridgeRun read_bridge_script(Sources files, const Given& given, JobExtent& extent,
                             ProgramStart& start, ImportReport& report);

}  // namespace stepwright::framework_files
