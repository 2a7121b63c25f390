#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>

#include "stepwright/step/program.h"

namespace stepwright::runtime {

/// Where the time of a rank's step went: measured and predicted seconds for each kind of
/// computation, and for messages of each kind of parallelism. Messages count in full even while
/// computations overlap them.
struct StepTimeSummary {
  /// Predicted and measured seconds per step of one kind of computation or message.
  struct PredictedMeasuredTimes {
    double predicted_s = 0;
    double measured_s = 0;
  };
  /// Key of a row: first, true for messages; second, the kind of computation, or the kind of
  /// parallelism that the messages serve ("tensor", "data").
  using Key = std::pair<bool, std::string>;
  std::map<Key, PredictedMeasuredTimes> times;
  double step_s = 0;     ///< Mean wall time of a step, in seconds.
  double between_s = 0;  ///< Seconds per step in which the compute stream runs no operator.
};

/// Returns the row of a step-time summary (kind of computation, or kind of parallelism of a
/// message) to which an operator's time is added.
StepTimeSummary::Key step_time_summary_key(const step::Operator& op);

/// Returns a table of predicted and measured seconds: computations first, then messages, then the
/// time between operators.
std::string step_time_summary_text(const StepTimeSummary& summary);

/// Returns the JSON document of `--summary`: measured and predicted times of a step
/// (docs/formats.md, "Summary").
nlohmann::ordered_json step_time_summary_json(const StepTimeSummary& summary);

}  // namespace stepwright::runtime
