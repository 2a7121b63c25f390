#pragma once

#include <string>

#include "stepwright/answers/run_comparison.h"

namespace stepwright::cli {

/// The text of `stepwright compare`: what differs, and how long a step took.
std::string run_comparison_text(const answers::RunComparison& run,
                                const simulate::Prediction& prediction);

}  // namespace stepwright::cli
