#pragma once

#include <optional>
#include <string>

#include "stepwright/tune/training_run.h"

namespace stepwright::answers {

/// Reads what a person says of the whole run: tokens ("15e12", "15T") and a price for an hour of
/// one GPU. Empty tokens: nullopt; empty price: none. Fails with `kInput`, naming the option.
std::optional<tune::TrainingRun> read_training_run(const std::string& tokens,
                                                   const std::string& price);

}  // namespace stepwright::answers
