#pragma once

#include "stepwright/framework_files/syntax/shell_syntax.h"
#include "stepwright/framework_files/syntax/shell_words.h"

namespace stepwright::framework_files {

/// Takes `[[ ... ]]`, whose brackets and signs become words of their own. Fails with `kInput` where
/// it never closes.
ShellNode take_test(ShellWords& words);

}  // namespace stepwright::framework_files
