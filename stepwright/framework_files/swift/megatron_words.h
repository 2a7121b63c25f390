#pragma once

#include <span>
#include <string>

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/recognition/sources.h"

namespace stepwright::framework_files {

/// Reads the arguments of ms-swift's `megatron sft`: Megatron-LM's (`--bf16 true`, with
/// underscores) and ms-swift's own (modelscope/ms-swift swift/megatron/arguments/megatron_args.py).
/// `name` is the file's name in messages.
PlanDraft read_swift_megatron_arguments(Words words, const std::string& name,
                                        const UserFacts& given, PlanDraft draft,
                                        ImportReport& report);

}  // namespace stepwright::framework_files
