#pragma once

#include <optional>
#include <string>

#include "stepwright/tune/training_run.h"

namespace stepwright::answers {

/// Reads the options about the whole run: tokens ("15e12", "15T") and the price of one GPU-hour.
/// nullopt: `tokens` is empty; an empty price means none. Fails with `kInput`, naming the option.
std::optional<tune::TrainingRun> read_training_run(const std::string& tokens,
                                                   const std::string& price);

}  // namespace stepwright::answers
