#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stepwright/simulate/prediction.h"

namespace stepwright::report {

/// The recorded timeline of a step as pictures want it (docs/formats.md, "Report"): for every stage
/// one row for each stream and link class, of the critical stage alone where there would be too
/// many bars; on a row of computation a bar for each slot of the schedule, on the others one for
/// what belongs to it. `prediction` was made with its events recorded.
nlohmann::ordered_json timeline_overview_json(const simulate::Prediction& prediction);

/// The recorded timeline with `detail`: every operator of one forward and the backward after it, in
/// the middle of the critical stage's schedule.
nlohmann::ordered_json timeline_json(const simulate::Prediction& prediction);

}  // namespace stepwright::report
