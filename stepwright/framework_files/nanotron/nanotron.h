#pragma once

#include <span>

#include "stepwright/framework_files/draft/draft.h"

namespace stepwright::framework_files {

/// Reads a configuration of nanotron: parallelism, tokens, optimizer and the model's sizes.
void read_nanotron(std::span<const launch_scripts::SourceFile> files, const Given& given,
                   Draft& draft);

}  // namespace stepwright::framework_files
