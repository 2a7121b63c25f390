#pragma once

#include <optional>
#include <span>

#include "stepwright/core/document.h"
#include "stepwright/framework_files/launchers/started.h"
#include "stepwright/framework_files/megatron/flags.h"

namespace stepwright::framework_files {

/// Returns the DeepSpeed configuration that Megatron-DeepSpeed's `--deepspeed_config` names;
/// nullopt if neither user nor script supplies it. The configuration's ZeRO stage replaces
/// `--zero-stage`, which DeepSpeed ignores (deepspeedai/Megatron-DeepSpeed megatron/training.py).
std::optional<YamlJsonDocument> named_deepspeed_configuration(MegatronArgumentFields& arguments,
                                                              const StartedCommand& command,
                                                              Sources files);

/// Sets the plan's bucket sizes, overlap and host offload from Megatron-DeepSpeed's DeepSpeed
/// configuration, after the arguments have been read; what plans cannot express is reported.
void apply_deepspeed_configuration(const YamlJsonDocument& document, PartialPlan& partial,
                                   ImportReport& report);

}  // namespace stepwright::framework_files
