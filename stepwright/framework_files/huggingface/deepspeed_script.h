#pragma once

#include <span>

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/launchers/started.h"

namespace stepwright::framework_files {

/// Reads a script that starts a training program of its own on DeepSpeed, with the configuration
/// that it names or writes: `--deepspeed_config FILE.json` and the names that programs have for the
/// same. Model and length are read under the usual names of arguments; what else the program does
/// is not known, which the report says. Fails with `kInput` where the configuration is not given.
void read_deepspeed_script(std::span<const launch_scripts::SourceFile> files, const Given& given,
                           Draft& draft);

/// Whether a command names a configuration of DeepSpeed.
bool starts_with_deepspeed(std::span<const launch_scripts::ShellWord> words);

}  // namespace stepwright::framework_files
