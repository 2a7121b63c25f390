#pragma once

#include <functional>

#include "stepwright/runtime/rank/placed_operator.h"

namespace stepwright::runtime {

/// The work of an operator, done on the thread of its stream in order. `ready`: when the last work
/// on other threads that it waited for had ended.
using Work = std::function<void(Moment ready)>;

/// Executes the operators of a rank's program: runs them on tensors, or holds their time.
class Performer {
 public:
  Performer() = default;
  virtual ~Performer() = default;
  Performer(const Performer&) = delete;
  Performer& operator=(const Performer&) = delete;

  /// Called before the first operator of a step.
  virtual void begin_step() = 0;
  /// Returns the work of an operator; called in the order of issue by the thread that walks the
  /// schedule.
  virtual Work issue(PlacedOperator placed) = 0;
  /// Called after the last operator of a step was issued; waits for work and messages in progress.
  virtual void end_step() = 0;
};

}  // namespace stepwright::runtime
