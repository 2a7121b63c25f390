#pragma once

#include "stepwright/launch_scripts/shell/syntax.h"
#include "stepwright/launch_scripts/shell/words.h"

namespace stepwright::launch_scripts {

/// Takes `[[ ... ]]`, whose brackets and signs become words of their own. Fails with `kInput` where
/// it never closes.
ShellNode take_test(ShellWords& words);

}  // namespace stepwright::launch_scripts
