#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stepwright/simulate/prediction.h"

namespace stepwright::report {

/// The recorded timeline of a step as pictures want it: for every stage one row for each stream and
/// link class, of the critical stage alone where there would be too many bars (20,000); on a row of
/// computation a bar for each slot of the schedule, on the others one for what belongs to it.
/// {`step_time_s`, `unit_s` (of a tick), `critical_stage`, `kinds`, `rows` [{`stage`, `lane`,
/// `bars`}]}. A bar has five numbers: ticks since the bar before it, ticks that it lasts, index
/// into `kinds`, micro-batch (-1: none), thousandths of it that are busy. `prediction` was made
/// with its events recorded.
nlohmann::ordered_json timeline_overview_json(const simulate::Prediction& prediction);

/// The recorded timeline with `detail` {`from_s`, `to_s`, `unit_s`, `names`
/// (`operator|kind|phase|scheme|payload bytes`), `rows`}: every operator of one forward and the
/// backward after it, in the middle of the critical stage's schedule. Its bars end with index into
/// `names`, layer, micro-batch.
nlohmann::ordered_json timeline_json(const simulate::Prediction& prediction);

}  // namespace stepwright::report
