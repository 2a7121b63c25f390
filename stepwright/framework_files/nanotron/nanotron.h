#pragma once

#include <span>

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/launch_scripts/shell/script.h"

namespace stepwright::framework_files {

/// Reads a configuration of nanotron: parallelism, tokens, optimizer and the model's sizes.
void read_nanotron(std::span<const launch_scripts::SourceFile> files, const Given& given,
                   Draft& draft);

/// Whether a command starts it with one.
bool starts_nanotron(std::span<const launch_scripts::ShellWord> words);

/// Whether a file is such a configuration, or a script that may start it with one.
bool is_nanotron(const launch_scripts::SourceFile& file);

}  // namespace stepwright::framework_files
