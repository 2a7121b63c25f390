#pragma once

#include <map>
#include <vector>

#include "stepwright/runtime/execute/performer.h"

namespace stepwright::sample {

/// The properties of an operator on which its time depends; timed operators with equal keys are
/// averaged.
struct TimedOperatorKey {
  step::OperatorKind kind{};
  step::Phase phase{};
  DType dtype{};
  bool gated = false;
  step::OperatorShape shape{};
  auto operator<=>(const TimedOperatorKey&) const = default;

  /// Returns an operator with these properties, as an example.
  [[nodiscard]] step::Operator example_operator() const {
    return {.kind = kind, .phase = phase, .dtype = dtype, .gated = gated, .shape = shape};
  }
};

/// Measured seconds of each run of an operator, by the operator's properties.
using OperatorSeconds = std::map<TimedOperatorKey, std::vector<double>>;

/// Runs operators through another performer and measures the time of each on the thread that issues
/// it.
class TimedOperatorPerformer : public runtime::OperatorRunner {
 public:
  /// `inner` runs the operators; measured times are appended to `seconds`. Both must outlive this
  /// object.
  TimedOperatorPerformer(runtime::OperatorRunner& inner, OperatorSeconds& seconds)
      : inner_(inner), seconds_(seconds) {}

  void begin_step() override { inner_.begin_step(); }
  runtime::Work make_operator_work(runtime::OperatorWithOperands placed) override;
  void end_step() override { inner_.end_step(); }

 private:
  runtime::OperatorRunner& inner_;
  OperatorSeconds& seconds_;
};

}  // namespace stepwright::sample
