#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "stepwright/plan/job.h"
#include "stepwright/traffic/ledger.h"

namespace stepwright::answers {

/// Traffic and step time of a plan for one value of the swept field.
struct TrafficPoint {
  std::string value;    ///< Value of the field, as the user wrote it.
  std::string refused;  ///< Reason why the plan is not legal with this value; empty: it is legal.
  std::map<step::Scheme, traffic::MessageVolume> schemes;
  double step_time_s = 0;
  double tokens_per_s = 0;
};

/// Traffic and step time of a plan for several values of one field.
struct TrafficSweep {
  std::string field;
  std::vector<TrafficPoint> points;
};

/// Reads `FIELD=VALUE,VALUE,...` (fields and values as in `predict --set`), then counts messages
/// and predicts the step for each value. Fails with `kInput` for an unknown field or a bad value.
TrafficSweep sweep_traffic(const plan::PlannedJob& planned, const std::string& text);

/// Returns the bytes that all ranks together send per token of a step.
double bytes_per_token(const TrafficPoint& point);

/// Returns the member `sweep` of `traffic --json`.
nlohmann::ordered_json traffic_sweep_json(const TrafficSweep& sweep);

}  // namespace stepwright::answers
