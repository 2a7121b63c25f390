#pragma once

#include <span>

#include "stepwright/launch_scripts/shell/script.h"
#include "stepwright/launch_scripts/text.h"

namespace stepwright::framework_files {

// Names from `launch_scripts/` that this folder uses often.

using launch_scripts::holds;
using launch_scripts::is_shell_script;
using launch_scripts::last_part;
using launch_scripts::ShellCommand;
using launch_scripts::ShellScript;
using launch_scripts::ShellWord;
using launch_scripts::SourceFile;

/// The files that a user gave.
using Sources = std::span<const SourceFile>;
/// The words of a shell command.
using Words = std::span<const ShellWord>;

}  // namespace stepwright::framework_files
