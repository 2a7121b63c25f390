#pragma once

#include "stepwright/framework_files/huggingface/hub_files.h"
#include "stepwright/framework_files/launchers/started.h"

namespace stepwright::framework_files {

/// Takes what `accelerate launch` is told on its command line, as `NAME=VALUE` of the configuration
/// that says the same. Fails with `kInput` where it names a configuration that is not among the
/// files. huggingface/accelerate src/accelerate/commands/launch.py: launch_command_parser, and
/// _validate_launch_command, by which words go over the file.
void take_launch_words(const StartedCommand& command, HubFiles& files, ImportReport& report);

}  // namespace stepwright::framework_files
