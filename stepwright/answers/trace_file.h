#pragma once

#include <iosfwd>

#include "stepwright/simulate/prediction.h"

namespace stepwright::answers {

/// Writes the timeline of a predicted step as a Chrome trace, one row for each stream and link. The
/// prediction must have recorded its events.
void write_predicted_step_trace(const simulate::PlanPrediction& prediction, std::ostream& out);

}  // namespace stepwright::answers
