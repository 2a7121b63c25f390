#pragma once

#include <optional>
#include <span>

#include "stepwright/core/document.h"
#include "stepwright/framework_files/launchers/started.h"
#include "stepwright/framework_files/megatron/flags.h"

namespace stepwright::framework_files {

/// Returns the DeepSpeed configuration that `--deepspeed_config` of Megatron-DeepSpeed names, if it
/// was given or the script writes it. Its ZeRO stage replaces `--zero-stage`, because DeepSpeed
/// reads only the configuration (deepspeedai/Megatron-DeepSpeed megatron/training.py,
/// setup_model_and_optimizer: deepspeed.initialize).
std::optional<Document> take_deepspeed_file(MegatronArguments& arguments,
                                            const StartedCommand& command, Sources files);

/// Takes the configuration's buckets and reports what it offloads to the host; the arguments must
/// have been read before.
void settle_deepspeed_file(const Document& document, plan::Plan& plan, ImportReport& report);

}  // namespace stepwright::framework_files
