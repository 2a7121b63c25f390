#pragma once

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/huggingface/hub_files.h"
#include "stepwright/framework_files/huggingface/trainer.h"

namespace stepwright::framework_files {

/// Reads from Hugging Face Accelerate's configuration how it starts a training program: number of
/// ranks, FSDP or DeepSpeed, and the precision if the program states none.
void read_accelerate_configuration(const TransformersProgramFiles& files,
                                   TrainerDistribution& trainer, PartialPlan& settled,
                                   JobRankCounts& extent, ImportReport& report);

/// Reads parallel degrees from Accelerate's ParallelismConfig (`tp_size`, `cp_size`,
/// `dp_shard_size`), with or without the prefix `parallelism_config_`. Source:
/// huggingface/accelerate src/accelerate/parallelism_config.py.
void read_accelerate_parallelism(const FrameworkSettingsReader& section,
                                 TrainerDistribution& trainer, plan::Plan& plan);

}  // namespace stepwright::framework_files
