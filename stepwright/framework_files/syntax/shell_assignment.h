#pragma once

#include "stepwright/framework_files/syntax/shell_syntax.h"
#include "stepwright/framework_files/syntax/shell_words.h"

namespace stepwright::framework_files {

/// Takes `NAME=value`, `NAME[index]+=value` or `NAME=(...)` into a command, if one stands here.
/// Fails with `kInput` on an array that never closes.
bool take_assignment(ShellWords& words, ShellNode& made);

}  // namespace stepwright::framework_files
