#pragma once

#include <span>

#include "stepwright/framework_files/draft/draft.h"

namespace stepwright::framework_files {

/// Reads a script that starts torchtitan up to 0.2.2 with a TOML file, which is given beside it or
/// written by it; arguments of the command stand over the file. Of `run_train.sh` its own text is
/// known.
Draft read_titan_script(Sources files, const Given& given, Draft draft, ImportReport& report);

}  // namespace stepwright::framework_files
