#pragma once

#include <string>

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/megatron/flags.h"

namespace stepwright::framework_files {

/// True if arguments belong to slime, which trains by Megatron-LM and generates in the same job.
bool is_slime(const MegatronArguments& arguments, const ImportReport& report);

/// Reads slime's devices and sets the Megatron arguments that slime sets: bf16, the distributed
/// optimizer and the batch of a rollout. Reports slime's other arguments, with whether they matter.
/// `name` is the file's name in messages. Fails with `kUnsupported` if nothing is trained.
void take_slime(MegatronArguments& arguments, const std::string& name, PartialPlan& settled,
                JobExtent& extent, ImportReport& report);

/// Takes the Hugging Face model that slime names, `--ref-load` or `--hf-checkpoint`, if no argument
/// states its sizes. If Megatron-Bridge builds the model, layers are as Megatron-Bridge builds
/// them.
void name_slime_model(MegatronArguments& arguments, const UserFacts& given, ModelWords& model_words,
                      ImportReport& report);

}  // namespace stepwright::framework_files
