#pragma once

#include <span>

#include "stepwright/launch_scripts/shell/script.h"
#include "stepwright/launch_scripts/text.h"

namespace stepwright::framework_files {

// Names from `launch_scripts/` that this folder uses often.

using launch_scripts::file_contains_text;
using launch_scripts::is_shell_script;
using launch_scripts::last_path_part;
using launch_scripts::ShellCommand;
using launch_scripts::ShellScriptResult;
using launch_scripts::ShellWord;
using launch_scripts::SourceFile;

/// Files that the user gave: names and texts.
using Sources = std::span<const SourceFile>;
/// Words of a shell command after expansion of variables: program and arguments.
using Words = std::span<const ShellWord>;

}  // namespace stepwright::framework_files
