#pragma once

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/huggingface/hub_files.h"
#include "stepwright/framework_files/huggingface/trainer.h"

namespace stepwright::framework_files {

/// Reads how a configuration of Accelerate starts the program of `files`: its ranks, FSDP,
/// DeepSpeed, and the precision if the program states none.
void read_accelerate_launch(const HubFiles& files, Trainer& trainer, PartialPlan& settled,
                            JobExtent& extent, ImportReport& report);

/// Reads degrees under the names of Accelerate's ParallelismConfig, with or without the prefix
/// `parallelism_config_`. huggingface/accelerate src/accelerate/parallelism_config.py.
void read_parallelism_section(const Fields& section, Trainer& trainer, plan::Plan& plan);

}  // namespace stepwright::framework_files
