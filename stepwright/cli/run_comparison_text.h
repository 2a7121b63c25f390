#pragma once

#include <string>

#include "stepwright/answers/run_comparison.h"

namespace stepwright::cli {

/// Returns the text of `stepwright compare`: what differs between a run and its plan, and the
/// predicted and the logged step time.
std::string run_plan_comparison_text(const answers::PredictionRunComparison& run,
                                     const simulate::PlanPrediction& prediction);

}  // namespace stepwright::cli
