#pragma once

#include <array>
#include <cstdint>

#include "stepwright/plan/plan.h"
#include "stepwright/runtime/execute/compute_clock.h"
#include "stepwright/runtime/execute/performer.h"
#include "stepwright/runtime/measure/operator_times.h"
#include "stepwright/runtime/messages/groups.h"

namespace stepwright::runtime {

/// The program that a held run executes on one rank.
struct EmulatedRankProgram {
  const step::StepProgram& program;
  const plan::Plan& plan;
  const OperatorTimes& times;
  double scale = 1;  ///< Divides the times of computations and the bytes of messages.
  plan::Coordinates place;
};

/// Sleeps for the time of each computation instead of computing, and sends messages of the
/// operators' sizes over the operators' groups; tensors have no values. Receives are posted when
/// they are issued, as the host of a device does.
class SleepingPerformer : public Performer {
 public:
  /// The objects to which `held` refers, and `groups`, must outlive this.
  SleepingPerformer(const EmulatedRankProgram& held, Groups& groups);

  void begin_step() override {}
  Work issue(PlacedOperator placed) override;
  void end_step() override { groups_.finish(); }

 private:
  [[nodiscard]] Work message(PlacedOperator placed);
  [[nodiscard]] Work held_computation(const PlacedOperator& placed);
  [[nodiscard]] Work held_receive(const PlacedOperator& placed);
  [[nodiscard]] double scaled_bytes(const step::Operator& op) const;
  void send(const PlacedOperator& placed);

  EmulatedRankProgram held_;
  Groups& groups_;
  std::array<ComputeClock, step::kStreams> clocks_;  ///< Clock of each stream that computes.
};

}  // namespace stepwright::runtime
