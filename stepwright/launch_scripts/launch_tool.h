#pragma once

#include "stepwright/launch_scripts/captured.h"

namespace stepwright::launch_scripts {

/// True if the command of a launcher starts training: false for `accelerate config`, `tune
/// download`, `torchrun --help` and the like, which are written down as not run.
bool starts_training(const Words& words);

}  // namespace stepwright::launch_scripts
