#pragma once

#include "stepwright/launch_scripts/shell/syntax.h"
#include "stepwright/launch_scripts/shell/words.h"

namespace stepwright::launch_scripts {

/// Reads an assignment `NAME=value`, `NAME[index]+=value` or `NAME=(...)` at the current position
/// of `words` and adds it to the command `made`; returns false if there is none. Fails with
/// `kInput` for an array that never closes.
bool parse_shell_assignment(ShellWordSplitter& words, ShellNode& made);

}  // namespace stepwright::launch_scripts
