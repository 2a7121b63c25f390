#pragma once

#include <map>
#include <vector>

#include "stepwright/runtime/execute/performer.h"

namespace stepwright::sample {

/// The facts on which an operator's time depends.
struct OperatorKey {
  step::OperatorKind kind{};
  step::Phase phase{};
  DType dtype{};
  bool gated = false;
  step::Shape shape{};
  auto operator<=>(const OperatorKey&) const = default;

  /// An operator of this key.
  [[nodiscard]] step::Operator example() const {
    return {.kind = kind, .phase = phase, .dtype = dtype, .gated = gated, .shape = shape};
  }
};

/// Seconds of each run of each computation.
using OperatorSeconds = std::map<OperatorKey, std::vector<double>>;

/// Times the computations that another performer does on the thread that issues them.
class TimedPerformer : public runtime::Performer {
 public:
  /// `seconds` is added to; both outlive this.
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
