#pragma once

#include "stepwright/runtime/execute/compute_clock.h"
#include "stepwright/runtime/execute/performer.h"

namespace stepwright::runtime {

/// Gives each rank a device of constant speed although ranks share processors: a computation of
/// another performer takes `pace` times the processor time that it uses, and its stream sleeps for
/// the rest. For a CPU and a compute stream whose work runs where it is issued; messages are not
/// paced. As long as the processors have time for all ranks at this pace, no rank slows another
/// down. A pace of 1 changes nothing.
class PacedPerformer : public Performer {
 public:
  /// `pace` must be at least 1; above 1 the calling thread, which also runs the steps, computes
  /// without helper threads from here on.
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
