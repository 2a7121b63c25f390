#pragma once

#include <functional>

#include "stepwright/runtime/rank/placed_operator.h"

namespace stepwright::runtime {

/// Function that does the work of one operator, called in order on the thread of the operator's
/// stream. `ready`: time at which the last work on other threads that the operator waits for ended.
using Work = std::function<void(Moment ready)>;

/// Interface that executes the operators of a rank's step program: by computing on tensors, or by
/// sleeping for their predicted times.
class OperatorRunner {
 public:
  OperatorRunner() = default;
  virtual ~OperatorRunner() = default;
  OperatorRunner(const OperatorRunner&) = delete;
  OperatorRunner& operator=(const OperatorRunner&) = delete;

  /// Called before the first operator of a step.
  virtual void begin_step() = 0;
  /// Returns the function that does an operator's work. Called in the order of the schedule, by the
  /// thread that walks through it.
  virtual Work make_operator_work(OperatorWithOperands placed) = 0;
  /// Waits for computations and messages in progress. Called when the last operator of a step has
  /// been issued.
  virtual void end_step() = 0;
};

}  // namespace stepwright::runtime
