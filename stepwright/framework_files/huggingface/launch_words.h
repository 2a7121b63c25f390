#pragma once

#include "stepwright/framework_files/huggingface/hub_files.h"
#include "stepwright/framework_files/launchers/started.h"

namespace stepwright::framework_files {

/// Reads the options of `accelerate launch` into `files.launch`, as NAME=VALUE texts that override
/// Accelerate's configuration file. Fails with `kInput` if that file was not given. Sources:
/// huggingface/accelerate src/accelerate/commands/launch.py: launch_command_parser, and
/// _validate_launch_command, which decides which options override the file.
void read_accelerate_launch_options(const StartedCommand& command, TransformersProgramFiles& files,
                                    ImportReport& report);

}  // namespace stepwright::framework_files
