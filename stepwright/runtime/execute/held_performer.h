#pragma once

#include <array>
#include <cstdint>

#include "stepwright/plan/plan.h"
#include "stepwright/runtime/execute/compute_clock.h"
#include "stepwright/runtime/execute/performer.h"
#include "stepwright/runtime/measure/operator_times.h"
#include "stepwright/runtime/messages/groups.h"

namespace stepwright::runtime {

/// Step program that one rank of an emulated run executes, where computations are replaced by
/// waiting for their predicted times.
struct EmulatedRankProgram {
  const step::StepProgram& program;
  const plan::Plan& plan;
  const OperatorTimes& times;
  /// Divisor of all computation times and message bytes of the emulated run.
  double scale = 1;
  plan::RankCoordinates place;
};

/// Emulates a step: sleeps for the predicted time of each computation, and sends real messages of
/// the operators' sizes between the ranks; tensors have no values. Receives are posted as early as
/// a GPU's host would post them.
class SleepingOperatorRunner : public OperatorRunner {
 public:
  /// `held`: the step program to emulate; `groups`: the communicators that send its messages. The
  /// objects that `held` refers to, and `groups`, must outlive this object.
  SleepingOperatorRunner(const EmulatedRankProgram& held, RankCommunicators& groups);

  void begin_step() override {}
  Work make_operator_work(OperatorWithOperands placed) override;
  void end_step() override { groups_.finish(); }

 private:
  [[nodiscard]] Work message(OperatorWithOperands placed);
  [[nodiscard]] Work held_computation(const OperatorWithOperands& placed);
  [[nodiscard]] Work held_receive(const OperatorWithOperands& placed);
  [[nodiscard]] double scaled_bytes(const step::Operator& op) const;
  void send(const OperatorWithOperands& placed);

  EmulatedRankProgram held_;
  RankCommunicators& groups_;
  /// For each stream of the device, the clock that sleeps for the predicted times of its
  /// computations.
  std::array<StreamPacer, step::kStreams> clocks_;
};

}  // namespace stepwright::runtime
