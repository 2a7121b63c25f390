#pragma once

#include <optional>
#include <string>

#include "stepwright/tune/training_run.h"

namespace stepwright::answers {

/// Reads the options for pricing a whole training run: its tokens ("15e12", "15T") and the price of
/// one GPU-hour (empty: no price). Returns nullopt if `tokens` is empty. Fails with `kInput`,
/// naming the option.
std::optional<tune::TrainingLengthAndPrice> read_run_tokens_and_device_price(
    const std::string& tokens, const std::string& price);

}  // namespace stepwright::answers
