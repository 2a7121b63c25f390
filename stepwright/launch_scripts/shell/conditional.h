#pragma once

#include "stepwright/launch_scripts/shell/syntax.h"
#include "stepwright/launch_scripts/shell/words.h"

namespace stepwright::launch_scripts {

/// Reads a test `[[ ... ]]` at the current position of `words`; brackets and operators in it become
/// words. Fails with `kInput` if it never closes.
ShellNode parse_shell_test(ShellWordSplitter& words);

}  // namespace stepwright::launch_scripts
