#pragma once

#include <optional>
#include <span>

#include "stepwright/core/document.h"
#include "stepwright/framework_files/launchers/started.h"
#include "stepwright/framework_files/megatron/flags.h"

namespace stepwright::framework_files {

/// The configuration of DeepSpeed that `--deepspeed_config` of Megatron-DeepSpeed names, where it
/// is among the files or its script writes it. Its stage of ZeRO stands in the place of
/// `--zero-stage`: it is what DeepSpeed heeds; deepspeedai/Megatron-DeepSpeed megatron/training.py,
/// setup_model_and_optimizer: deepspeed.initialize.
std::optional<Document> take_deepspeed_file(MegatronArguments& arguments,
                                            const StartedCommand& command, Sources files);

/// Takes its buckets, and lists what it leaves to the host; a draft whose arguments were read.
void settle_deepspeed_file(const Document& document, plan::Plan& plan, ImportReport& report);

}  // namespace stepwright::framework_files
