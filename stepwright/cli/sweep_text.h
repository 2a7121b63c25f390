#pragma once

#include <optional>
#include <string>

#include "stepwright/tune/sweep.h"

namespace stepwright::cli {

/// Returns the text that `tune --sweep` prints below its answer: for each value a row and a bar of
/// the step time.
std::string sweep_text(const tune::Sweep& sweep, const std::optional<tune::TrainingRun>& run);

}  // namespace stepwright::cli
