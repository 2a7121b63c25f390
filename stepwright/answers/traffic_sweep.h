#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "stepwright/plan/job.h"
#include "stepwright/traffic/ledger.h"

namespace stepwright::answers {

/// One point of a sweep: bytes sent and step time of a plan for one value of the varied field.
struct TrafficSweepPoint {
  std::string value;  ///< Value of the varied field, as the user wrote it.
  /// Reason why the plan is not legal with this value of the varied field; empty: it is legal.
  std::string refused;
  std::map<step::ParallelismScheme, traffic::MessageVolume> schemes;
  double step_time_s = 0;
  double tokens_per_s = 0;
};

/// Bytes sent and step time of a plan for several values of one of its fields.
struct TrafficSweep {
  std::string field;
  std::vector<TrafficSweepPoint> points;
};

/// Evaluates a plan for each value in `text` ("FIELD=VALUE,VALUE,..."): counts the messages and
/// predicts the step time. Fails with `kInput` for an unknown field or a bad value.
TrafficSweep evaluate_traffic_sweep(const plan::PlannedJob& planned, const std::string& text);

/// Returns the bytes that all ranks together send in a step of the plan, divided by the tokens of
/// the step.
double sent_bytes_per_step_token(const TrafficSweepPoint& point);

/// Returns the JSON value of the key `sweep` of `traffic --json`.
nlohmann::ordered_json traffic_sweep_json(const TrafficSweep& sweep);

}  // namespace stepwright::answers
