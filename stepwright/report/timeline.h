#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stepwright/simulate/prediction.h"

namespace stepwright::report {

/// Returns the recorded timeline of a step for drawing: one row for each stream and link class of
/// each stage (of the critical stage only, if there would be more than 20,000 bars). On computation
/// rows a bar is a slot of the schedule; on other rows a bar covers the operators that belong to
/// one slot. {`step_time_s`, `unit_s` (of a tick), `critical_stage`, `kinds`, `rows` [{`stage`,
/// `lane`, `bars`}]}. A bar has five numbers: ticks since the previous bar, duration in ticks,
/// index into `kinds`, micro-batch (-1: none), and the thousandths of the duration that are busy.
/// `prediction` must have recorded its events.
nlohmann::ordered_json timeline_overview_json(const simulate::Prediction& prediction);

/// Returns the timeline of `timeline_overview_json` with a member `detail` {`from_s`, `to_s`,
/// `unit_s`, `names` (`operator|kind|phase|scheme|payload bytes`), `rows`}: every operator of one
/// forward pass and the following backward pass in the middle of the critical stage's schedule. The
/// last three numbers of its bars are the index into `names`, the layer and the micro-batch.
nlohmann::ordered_json timeline_json(const simulate::Prediction& prediction);

}  // namespace stepwright::report
