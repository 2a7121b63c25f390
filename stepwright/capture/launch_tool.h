#pragma once

#include "stepwright/capture/captured.h"

namespace stepwright::capture {

/// True if the command of a launcher starts training: false for `accelerate config`, `tune
/// download`, `torchrun --help` and the like, which are written down as not run.
bool starts_training(const Words& words);

}  // namespace stepwright::capture
