#pragma once

#include <optional>
#include <string>

#include "stepwright/tune/sweep.h"

namespace stepwright::cli {

/// Returns the section that `stepwright tune --sweep` prints last: for each value of the swept
/// setting, a row with the best plan and a bar of its step time.
std::string setting_sweep_text(const tune::TuneSweep& sweep,
                               const std::optional<tune::TrainingLengthAndPrice>& run);

}  // namespace stepwright::cli
