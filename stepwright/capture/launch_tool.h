#pragma once

#include "stepwright/capture/captured.h"

namespace stepwright::capture {

/// True if a launcher's command starts training; false for commands such as `accelerate config`,
/// `tune download` or `torchrun --help`.
bool is_training_command(const Words& words);

}  // namespace stepwright::capture
