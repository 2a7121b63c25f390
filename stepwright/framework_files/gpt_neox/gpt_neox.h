#pragma once

#include <span>

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/launch_scripts/shell/script.h"

namespace stepwright::framework_files {

/// Reads configurations of GPT-NeoX, whose words may have dashes or underscores and which carry
/// those of DeepSpeed; several files are one.
void read_gpt_neox(std::span<const launch_scripts::SourceFile> files, const Given& given,
                   Draft& draft);

/// Whether a command starts it with some.
bool starts_gpt_neox(std::span<const launch_scripts::ShellWord> words);

/// Whether a file is such a configuration, or a script that may start it with some.
bool is_gpt_neox(const launch_scripts::SourceFile& file);

}  // namespace stepwright::framework_files
