#pragma once

#include "stepwright/framework_files/huggingface/hub_files.h"
#include "stepwright/framework_files/launchers/started.h"

namespace stepwright::framework_files {

/// Takes the options of `accelerate launch` as `NAME=VALUE` texts of Accelerate's configuration.
/// Fails with `kInput` if they name a configuration file that was not given. Sources:
/// huggingface/accelerate src/accelerate/commands/launch.py: launch_command_parser, and
/// _validate_launch_command, which decides which options override the file.
void apply_launch_arguments(const StartedCommand& command, HubFiles& files, ImportReport& report);

}  // namespace stepwright::framework_files
