#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stepwright/simulate/prediction.h"

namespace stepwright::report {

/// Returns a step's timeline, reduced for drawing, as JSON {`step_time_s`, `unit_s` (of a tick),
/// `critical_stage`, `kinds`, `rows` [{`stage`, `lane`, `bars`}]}: one row for each stream and kind
/// of link of each stage (only of the critical stage if there are more than 20,000 bars). A bar
/// stands for one forward or backward of a micro-batch: ticks since the previous bar, duration in
/// ticks, index into `kinds`, micro-batch (-1: none), and thousandths of the duration that are
/// busy.
nlohmann::ordered_json timeline_overview_json(const simulate::PlanPrediction& prediction);

/// Returns the timeline of a step for drawing, with every operator of one forward and the following
/// backward in the middle of the critical stage's schedule. JSON: `timeline_overview_json` plus
/// `detail` {`from_s`, `to_s`, `unit_s`, `names` (`operator|kind|phase|scheme|payload bytes`),
/// `rows`}, whose bars end with the index into `names`, the layer and the micro-batch.
nlohmann::ordered_json timeline_json(const simulate::PlanPrediction& prediction);

}  // namespace stepwright::report
