#pragma once

#include <optional>
#include <string>

#include "stepwright/tune/sweep.h"

namespace stepwright::cli {

/// The text that `tune --sweep` prints below its answer: a row and a bar of the step time for each
/// value.
std::string sweep_text(const tune::Sweep& sweep, const std::optional<tune::TrainingRun>& run);

}  // namespace stepwright::cli
