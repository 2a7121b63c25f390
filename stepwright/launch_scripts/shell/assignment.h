#pragma once

#include "stepwright/launch_scripts/shell/syntax.h"
#include "stepwright/launch_scripts/shell/words.h"

namespace stepwright::launch_scripts {

/// Takes `NAME=value`, `NAME[index]+=value` or `NAME=(...)` into a command, if one stands here.
/// Fails with `kInput` on an array that never closes.
bool take_assignment(ShellWords& words, ShellNode& made);

}  // namespace stepwright::launch_scripts
