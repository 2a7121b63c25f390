#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "stepwright/plan/job.h"
#include "stepwright/traffic/ledger.h"

namespace stepwright::answers {

/// The traffic of a plan with one value of a field, and its step time.
struct TrafficPoint {
  std::string value;    ///< Value of the field, as given.
  std::string refused;  ///< Why the plan is not legal with it; empty: it is.
  std::map<step::Scheme, traffic::Volume> schemes;
  double step_time_s = 0;
  double tokens_per_s = 0;
};

/// A plan with each of several values of one of its fields.
struct TrafficSweep {
  std::string field;
  std::vector<TrafficPoint> points;
};

/// Reads `FIELD=VALUE,VALUE,...` with the fields and values of `predict --set`, and counts and
/// predicts the plan with each. Fails with `kInput` for an unknown field or a bad value.
TrafficSweep sweep_traffic(const plan::PlannedJob& planned, const std::string& text);

/// Bytes that all ranks send for each token of a step.
double bytes_per_token(const TrafficPoint& point);

/// `sweep` of `traffic --json`.
nlohmann::ordered_json traffic_sweep_json(const TrafficSweep& sweep);

}  // namespace stepwright::answers
