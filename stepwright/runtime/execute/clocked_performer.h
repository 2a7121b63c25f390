#pragma once

#include <mutex>

#include "stepwright/runtime/execute/performer.h"
#include "stepwright/runtime/measure/operator_times.h"
#include "stepwright/runtime/measure/step_summary.h"

namespace stepwright::runtime {

/// Measures the time of each operator that another `OperatorRunner` runs, on a device where an
/// operator has finished when its call returns (a CPU).
class TimingOperatorRunner : public OperatorRunner {
 public:
  /// `times`: predicted seconds of each operator of the program. Both arguments must outlive this
  /// object.
  TimingOperatorRunner(OperatorRunner& inner, const OperatorTimes& times)
      : inner_(inner), times_(times) {}

  void begin_step() override;
  Work make_operator_work(OperatorWithOperands placed) override;
  void end_step() override;

  /// Returns measured and predicted times, averaged over the steps so far. The first step, which
  /// also allocates memory, is left out if there are others.
  [[nodiscard]] StepTimeSummary mean_step_time_summary() const;

 private:
  void add(const step::Operator& op, double predicted_s, double measured_s);

  OperatorRunner& inner_;
  const OperatorTimes& times_;
  mutable std::mutex mutex_;
  StepTimeSummary total_;
  Moment begin_{};
  int steps_ = 0;
};

}  // namespace stepwright::runtime
