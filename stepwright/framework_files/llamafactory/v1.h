#pragma once

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/huggingface/hub_files.h"

namespace stepwright::framework_files {

/// Reads a configuration for LLaMA-Factory's second trainer (`USE_V1=1 llamafactory-cli sft FILE`),
/// which shards models by its own FSDP2 or DDP, or by the DeepSpeed configuration that it names.
Draft read_factory_v1(const HubFiles& files, const UserFacts& given, Draft draft,
                      ImportReport& report);

}  // namespace stepwright::framework_files
