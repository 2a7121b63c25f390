#pragma once

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/huggingface/hub_files.h"

namespace stepwright::framework_files {

/// Reads a configuration for LLaMA-Factory's newer trainer (`USE_V1=1 llamafactory-cli sft FILE`),
/// which uses FSDP2, DDP, or the DeepSpeed configuration that the file names.
PlanDraft read_llama_factory_v1(const TransformersProgramFiles& files, const UserFacts& given,
                                PlanDraft draft, ImportReport& report);

}  // namespace stepwright::framework_files
