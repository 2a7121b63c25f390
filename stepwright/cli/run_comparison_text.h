#pragma once

#include <string>

#include "stepwright/answers/run_comparison.h"

namespace stepwright::cli {

/// Returns the text of `stepwright compare`: the differences, and the predicted and logged step
/// times.
std::string run_comparison_text(const answers::RunComparison& run,
                                const simulate::Prediction& prediction);

}  // namespace stepwright::cli
