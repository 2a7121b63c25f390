#pragma once

#include <span>

#include "stepwright/framework_files/draft/draft.h"

namespace stepwright::framework_files {

/// Reads a script that starts torchtitan up to 0.2.2 with a TOML file, which must be given or
/// written by the script; the command's arguments override the file. The text of torchtitan's own
/// `run_train.sh` is built in.
Draft read_titan_script(Sources files, const UserFacts& given, Draft draft, ImportReport& report);

}  // namespace stepwright::framework_files
