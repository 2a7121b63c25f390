#pragma once

#include <mutex>

#include "stepwright/runtime/execute/performer.h"
#include "stepwright/runtime/measure/operator_times.h"
#include "stepwright/runtime/measure/step_summary.h"

namespace stepwright::runtime {

/// Measures the operators of another performer, on a device that has finished an operator when it
/// returns.
class ClockedPerformer : public Performer {
 public:
  /// `times`: predicted seconds of the program's operators. The arguments must outlive this.
  ClockedPerformer(Performer& inner, const OperatorTimes& times) : inner_(inner), times_(times) {}

  void begin_step() override;
  Work issue(PlacedOperator placed) override;
  void end_step() override;

  /// Returns the means over the steps so far; with more than one step, the first, which also
  /// allocates, is left out.
  [[nodiscard]] StepSummary summary() const;

 private:
  void add(const step::Operator& op, double predicted_s, double measured_s);

  Performer& inner_;
  const OperatorTimes& times_;
  mutable std::mutex mutex_;
  StepSummary total_;
  Moment begin_{};
  int steps_ = 0;
};

}  // namespace stepwright::runtime
