#pragma once

#include <optional>
#include <string>

#include "stepwright/tune/sweep.h"

namespace stepwright::cli {

/// Returns the section that `stepwright tune --sweep` prints last: for each value of the swept
/// setting, a row with the best plan and a bar of its step time.
std::string sweep_text(const tune::Sweep& sweep, const std::optional<tune::TrainingRun>& run);

}  // namespace stepwright::cli
