#pragma once

#include <optional>

#include "stepwright/launch_scripts/text.h"

namespace stepwright::launch_scripts {

/// Returns a Makefile or justfile as a shell script that runs every recipe, each on the lines where
/// the file has it; nullopt for any other file. Variables of the file are variables of the script;
/// calls of Make's functions are unknown.
std::optional<SourceFile> makefile_script(const SourceFile& file);

}  // namespace stepwright::launch_scripts
