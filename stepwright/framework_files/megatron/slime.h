#pragma once

#include <string>

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/megatron/flags.h"

namespace stepwright::framework_files {

/// True if a command's arguments belong to slime, a reinforcement-learning program that trains with
/// Megatron-LM and generates in the same job.
bool is_slime_command(const MegatronArgumentFields& arguments, const ImportReport& report);

/// Reads slime's training devices, batch and lengths, and sets the Megatron arguments that slime
/// sets by default: bf16 and the distributed optimizer. Reports slime's other arguments. `name` is
/// the file's name in messages. Fails with `kUnsupported` if the job only generates.
void read_slime_arguments(MegatronArgumentFields& arguments, const std::string& name,
                          const UserFacts& given, PartialPlan& settled, JobRankCounts& extent,
                          ImportReport& report);

/// Sets the model to the built-in one that slime's `--ref-load` or `--hf-checkpoint` names, unless
/// arguments or the user state it. Under `--megatron-to-hf-mode bridge`, also sets
/// Megatron-Bridge's defaults for experts.
void set_slime_model(MegatronArgumentFields& arguments, const UserFacts& given,
                     StatedModel& model_words, ImportReport& report);

}  // namespace stepwright::framework_files
