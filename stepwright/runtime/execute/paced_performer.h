#pragma once

#include "stepwright/runtime/execute/compute_clock.h"
#include "stepwright/runtime/execute/performer.h"

namespace stepwright::runtime {

/// Slows computations down to a constant speed, so that ranks sharing a machine's processors do not
/// disturb each other: a computation takes `pace` times the processor time that it uses, and its
/// stream sleeps for the rest. For CPUs; messages are not slowed. A pace of 1 changes nothing.
class PacedOperatorRunner : public OperatorRunner {
 public:
  /// `pace`: wall time per processor time, at least 1. Above 1, the calling thread, which must also
  /// run the steps, computes without helper threads from here on.
  PacedOperatorRunner(OperatorRunner& inner, double pace);

  void begin_step() override;
  Work make_operator_work(OperatorWithOperands placed) override;
  void end_step() override { inner_.end_step(); }

 private:
  void compute(const Work& work, Moment ready);

  OperatorRunner& inner_;
  double pace_;
  StreamPacer clock_;
};

}  // namespace stepwright::runtime
