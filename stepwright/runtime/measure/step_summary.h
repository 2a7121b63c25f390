#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>

#include "stepwright/step/program.h"

namespace stepwright::runtime {

/// The split of the time of a rank's step, beside what was predicted: seconds of a step, by kind of
/// computation and by scheme of messages. Messages that run beside computations count in full.
struct StepSummary {
  /// Seconds of a step.
  struct Times {
    double predicted_s = 0;
    double measured_s = 0;
  };
  /// Whether it is a message, and the name of the kind or scheme.
  using Key = std::pair<bool, std::string>;
  std::map<Key, Times> times;
  double step_s = 0;     ///< Mean seconds of a step.
  double between_s = 0;  ///< Seconds of a step outside all operators of the computing stream.
};

/// The key of an operator.
StepSummary::Key summary_key(const step::Operator& op);

/// A line for each key, computations first, and one for what is between operators.
std::string summary_text(const StepSummary& summary);

/// The file that `--summary` asks for (docs/formats.md, "Summary").
nlohmann::ordered_json summary_json(const StepSummary& summary);

}  // namespace stepwright::runtime
