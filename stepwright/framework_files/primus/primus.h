#pragma once

#include <span>

#include "stepwright/framework_files/draft/draft.h"

namespace stepwright::framework_files {

/// Reads a configuration of AMD's Primus: the overrides of its pre_trainer module, in the words of
/// Megatron-LM or of torchtitan, with the defaults of its own trainer_base.yaml; or a script that
/// starts it with one.
void read_primus(std::span<const launch_scripts::SourceFile> files, const Given& given,
                 Draft& draft);

}  // namespace stepwright::framework_files
