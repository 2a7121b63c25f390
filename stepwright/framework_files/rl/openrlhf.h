#pragma once

#include <span>

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/launch_scripts/shell/script.h"

namespace stepwright::framework_files {

/// Reads a script that starts a trainer of OpenRLHF: fine-tuning, preferences and rewards under
/// the launcher of DeepSpeed, reinforcement learning under Ray, of which the actor's update is the
/// step. Configurations of DeepSpeed are made from the arguments, as OpenRLHF makes them.
void read_openrlhf(std::span<const launch_scripts::SourceFile> files, const Given& given,
                   Draft& draft);

/// Whether a command starts one.
bool starts_openrlhf(std::span<const launch_scripts::ShellWord> words);

}  // namespace stepwright::framework_files
