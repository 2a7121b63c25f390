#pragma once

#include <optional>
#include <string>

#include "stepwright/tune/sweep.h"

namespace stepwright {

/// What `tune --sweep` prints below its answer: a row and a bar of the step time for each value.
std::string sweep_text(const Sweep& sweep, const std::optional<TrainingRun>& run);

/// A page of pictures: step time, MFU and, with a run, its days and its cost (GPU-hours without a
/// price) over the values; over their places where they are no numbers.
std::string sweep_page(const Sweep& sweep, const std::optional<TrainingRun>& run);

}  // namespace stepwright
