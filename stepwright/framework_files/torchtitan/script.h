#pragma once

#include <span>

#include "stepwright/framework_files/draft/draft.h"

namespace stepwright::framework_files {

/// Reads a script that starts torchtitan up to 0.2.2 with a TOML file, given by the user or written
/// by the script; arguments override the file. A script may call torchtitan's `run_train.sh`, which
/// is known here.
PlanDraft read_titan_script(Sources files, const UserFacts& given, PlanDraft draft,
                            ImportReport& report);

}  // namespace stepwright::framework_files
