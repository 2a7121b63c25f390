#pragma once

#include <iosfwd>

#include "stepwright/simulate/prediction.h"

namespace stepwright::answers {

/// Writes the timeline of a prediction that recorded its events, one row for each stream and link.
void write_prediction_trace(const simulate::Prediction& prediction, std::ostream& out);

}  // namespace stepwright::answers
