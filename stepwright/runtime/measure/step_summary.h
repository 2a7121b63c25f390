#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>

#include "stepwright/step/program.h"

namespace stepwright::runtime {

/// Where the time of a rank's step went, measured and predicted: seconds of a step by kind of
/// computation and by scheme of messages. Messages that overlap computations count in full.
struct StepSummary {
  /// Predicted and measured seconds of a key in a step.
  struct Times {
    double predicted_s = 0;
    double measured_s = 0;
  };
  /// True for messages, and the name of the kind of computation or scheme of messages.
  using Key = std::pair<bool, std::string>;
  std::map<Key, Times> times;
  double step_s = 0;     ///< Mean seconds of a step.
  double between_s = 0;  ///< Seconds of a step outside all operators of the compute stream.
};

/// Returns the key of an operator.
StepSummary::Key summary_key(const step::Operator& op);

/// Returns a text with a line for each key, computations first, and one for the time between
/// operators.
std::string summary_text(const StepSummary& summary);

/// Returns the content of the file of `--summary` (docs/formats.md, "Summary").
nlohmann::ordered_json summary_json(const StepSummary& summary);

}  // namespace stepwright::runtime
