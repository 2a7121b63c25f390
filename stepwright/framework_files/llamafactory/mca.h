#pragma once

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/framework_files/huggingface/hub_files.h"

namespace stepwright::framework_files {

/// True if a LLaMA-Factory configuration is for its Megatron-Core trainer (`USE_MCA=1`): it has
/// keys for parallel degrees, which only that trainer accepts.
bool is_llama_factory_megatron(const FrameworkSettingsReader& fields);

/// Reads a configuration for LLaMA-Factory's Megatron-Core trainer. The file must name a built-in
/// model, or the user must state the model. Sources: hiyouga/LLaMA-Factory
/// src/llamafactory/train/mca/workflow.py, alibaba/ROLL
/// mcore_adapter/src/mcore_adapter/training_args.py.
PlanDraft read_llama_factory_megatron(const TransformersProgramFiles& files,
                                      const FrameworkSettingsReader& fields, const UserFacts& given,
                                      PlanDraft draft, ImportReport& report);

}  // namespace stepwright::framework_files
