#pragma once

#include <span>

#include "stepwright/framework_files/draft/draft.h"

namespace stepwright::framework_files {

/// Reads a recipe of Megatron-Bridge as its own are: a Python function, `Given::function`, that
/// takes a ConfigContainer of common settings and assigns to its parts. The model is the one of
/// the hub that it names.
void read_bridge(std::span<const launch_scripts::SourceFile> files, const Given& given,
                 Draft& draft);

}  // namespace stepwright::framework_files
