#pragma once

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/framework_files/huggingface/hub_files.h"

namespace stepwright::framework_files {

/// True if a configuration of LLaMA-Factory is for its trainer on Megatron-Core (`USE_MCA=1`): it
/// has degrees that no other trainer of LLaMA-Factory accepts.
bool is_factory_on_megatron(const Fields& fields);

/// Reads a configuration for LLaMA-Factory's trainer on Megatron-Core. The model must be named or
/// given. Sources: hiyouga/LLaMA-Factory src/llamafactory/train/mca/workflow.py, alibaba/ROLL
/// mcore_adapter/src/mcore_adapter/training_args.py.
Draft read_factory_on_megatron(const HubFiles& files, const Fields& fields, const UserFacts& given,
                               Draft draft, ImportReport& report);

}  // namespace stepwright::framework_files
