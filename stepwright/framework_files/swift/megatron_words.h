#pragma once

#include <span>
#include <string>

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/launch_scripts/shell/script.h"

namespace stepwright::framework_files {

/// Reads the arguments of `megatron sft`: Megatron-LM's with underscores, truths as words, and
/// ms-swift's own. modelscope/ms-swift swift/megatron/arguments/megatron_args.py.
void read_swift_megatron(std::span<const launch_scripts::ShellWord> words, const std::string& name,
                         const Given& given, Draft& draft);

}  // namespace stepwright::framework_files
