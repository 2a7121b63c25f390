#pragma once

#include <functional>

#include "stepwright/runtime/rank/placed_operator.h"

namespace stepwright::runtime {

/// The work that is done when the turn of an operator has come, on the thread of its stream.
/// `ready`: when the last thing that it waited for on other threads had ended.
using Work = std::function<void(Moment ready)>;

/// The treatment of the operators of a rank's program: run them on tensors, or hold their time.
class Performer {
 public:
  Performer() = default;
  virtual ~Performer() = default;
  Performer(const Performer&) = delete;
  Performer& operator=(const Performer&) = delete;

  /// Before the first operator of a step.
  virtual void begin_step() = 0;
  /// Called in the order of issue by the thread that walks the schedule.
  virtual Work issue(PlacedOperator placed) = 0;
  /// After the last operator of a step was issued: waits for what is still under way.
  virtual void end_step() = 0;
};

}  // namespace stepwright::runtime
