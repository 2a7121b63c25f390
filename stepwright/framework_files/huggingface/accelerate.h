#pragma once

#include <span>
#include <string>
#include <vector>

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/huggingface/hub_files.h"
#include "stepwright/framework_files/huggingface/trainer.h"

namespace stepwright::framework_files {

/// A configuration of Hugging Face Accelerate: FSDP2, DDP, or DeepSpeed's ZeRO-1. What it has no
/// key for stands in a comment that begins with `stepwright:`.
std::string write_accelerate(const plan::PlannedJob& planned,
                             const std::vector<std::string>& header);

/// Reads such a configuration, and a DeepSpeed one beside it that it may name.
void read_accelerate(std::span<const launch_scripts::SourceFile> files, const Given& given,
                     Draft& draft);

/// Reads how such a configuration starts the program of `files`: its ranks, FSDP, DeepSpeed, and
/// the precision where the program says none.
void read_accelerate_launch(const HubFiles& files, Trainer& trainer, Draft& draft);

/// Reads degrees under the names of Accelerate's ParallelismConfig, with or without the prefix
/// `parallelism_config_`. huggingface/accelerate src/accelerate/parallelism_config.py.
void read_parallelism_section(const Fields& section, Trainer& trainer, Draft& draft);

}  // namespace stepwright::framework_files
