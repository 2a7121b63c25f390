#pragma once

#include "stepwright/capture/captured.h"

namespace stepwright::capture {

/// True if a launcher's command starts training. False for `accelerate config`, `tune download`,
/// `torchrun --help` and similar commands, which are recorded as not run.
bool starts_training(const Words& words);

}  // namespace stepwright::capture
