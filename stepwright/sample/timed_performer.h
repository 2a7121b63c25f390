#pragma once

#include <map>
#include <vector>

#include "stepwright/runtime/execute/performer.h"

namespace stepwright::sample {

/// The properties of an operator on which its time depends.
struct OperatorKey {
  step::OperatorKind kind{};
  step::Phase phase{};
  DType dtype{};
  bool gated = false;
  step::Shape shape{};
  auto operator<=>(const OperatorKey&) const = default;

  /// Returns an operator with these properties.
  [[nodiscard]] step::Operator example() const {
    return {.kind = kind, .phase = phase, .dtype = dtype, .gated = gated, .shape = shape};
  }
};

/// Measured seconds of each run, by operator.
using OperatorSeconds = std::map<OperatorKey, std::vector<double>>;

/// Runs computations through another performer and times each on the thread that issues it.
class TimedPerformer : public runtime::Performer {
 public:
  /// Measured times are added to `seconds`; `inner` and `seconds` must outlive this object.
  TimedPerformer(runtime::Performer& inner, OperatorSeconds& seconds)
      : inner_(inner), seconds_(seconds) {}

  void begin_step() override { inner_.begin_step(); }
  runtime::Work issue(runtime::PlacedOperator placed) override;
  void end_step() override { inner_.end_step(); }

 private:
  runtime::Performer& inner_;
  OperatorSeconds& seconds_;
};

}  // namespace stepwright::sample
