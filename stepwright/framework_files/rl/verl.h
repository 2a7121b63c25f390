#pragma once

#include <span>

#include "stepwright/framework_files/draft/draft.h"

namespace stepwright::framework_files {

/// Reads the training part of verl's actor, of its YAML or of a script that starts verl.trainer
/// with words of Hydra: Megatron-Core or FSDP. A step is one update of the actor, of
/// ppo_mini_batch_size prompts with their answers, each as long as prompt and answer may be.
/// Rollouts, reference and critic are left out.
void read_verl(std::span<const launch_scripts::SourceFile> files, const Given& given, Draft& draft);

}  // namespace stepwright::framework_files
