#pragma once

#include <string>

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/megatron/flags.h"

namespace stepwright::framework_files {

/// Whether arguments are of slime, which trains by Megatron-LM beside generation.
bool is_slime(const MegatronArguments& arguments, const ImportReport& report);

/// Takes what slime says of its devices and what it sets in Megatron's arguments: bf16, the
/// distributed optimizer and the batch of a rollout; lists its other arguments with whether they
/// matter. `name`: of the file, in messages. Fails with `kUnsupported` where nothing is trained.
void take_slime(MegatronArguments& arguments, const std::string& name, Settled& settled,
                JobExtent& extent, ImportReport& report);

/// Takes the model of the hub's files that slime names, `--ref-load` or
/// `--hf-checkpoint`, where no argument says its sizes; layers are Megatron-Bridge's where that
/// makes them.
void name_slime_model(MegatronArguments& arguments, const Given& given, ModelWords& model_words,
                      ImportReport& report);

}  // namespace stepwright::framework_files
