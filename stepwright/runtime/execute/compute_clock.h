#pragma once

#include "stepwright/runtime/rank/lanes.h"

namespace stepwright::runtime {

/// Makes the work of a compute stream take a given time, by sleeping. The end of a piece of work
/// does not move when a sleep was too long or a processor came late, so that later work catches up.
/// For the thread of that stream only.
class ComputeClock {
 public:
  /// Sleeps until work of `seconds` has ended, and returns that moment. The work starts when the
  /// stream is free, but not before `earliest`.
  Moment spend(Moment earliest, double seconds);
  /// Marks the stream as free now: work so far took its real time.
  void catch_up();

 private:
  Moment done_ = Moment::min();
};

/// Makes sleeps of this thread, and of threads that it starts later, end on time to the
/// microsecond; the system otherwise adds 50 microseconds.
void sleep_exactly();

}  // namespace stepwright::runtime
