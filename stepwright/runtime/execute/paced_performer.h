#pragma once

#include "stepwright/runtime/execute/compute_clock.h"
#include "stepwright/runtime/execute/performer.h"

namespace stepwright::runtime {

/// Gives each rank a device of its own speed where ranks share processors: a computation of another
/// performer lasts `pace` times the processor time that it takes, and its stream sleeps for the
/// rest. For a CPU and a compute stream whose work runs where it is issued; messages are not paced.
/// While the processors have time for all ranks at this pace, none slows another down. A pace of 1
/// leaves everything as it is.
class PacedPerformer : public Performer {
 public:
  /// `pace` >= 1; above 1 the calling thread, which also runs the steps, computes alone from here
  /// on.
  PacedPerformer(Performer& inner, double pace);

  void begin_step() override;
  Work issue(PlacedOperator placed) override;
  void end_step() override { inner_.end_step(); }

 private:
  void compute(const Work& work, Moment ready);

  Performer& inner_;
  double pace_;
  ComputeClock clock_;
};

}  // namespace stepwright::runtime
