#pragma once

#include <span>

#include "stepwright/framework_files/draft/draft.h"

namespace stepwright::framework_files {

/// Reads configurations of GPT-NeoX, whose words may have dashes or underscores and which carry
/// those of DeepSpeed; several files are one.
void read_gpt_neox(std::span<const launch_scripts::SourceFile> files, const Given& given,
                   Draft& draft);

}  // namespace stepwright::framework_files
