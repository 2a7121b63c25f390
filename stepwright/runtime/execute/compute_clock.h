#pragma once

#include "stepwright/runtime/rank/lanes.h"

namespace stepwright::runtime {

/// Makes the work of a compute stream last as long as it is said to, by sleeping. The end of a
/// piece of work does not move when a sleep was too long or a processor came late, so that what
/// follows catches up. For the thread of that stream only.
class ComputeClock {
 public:
  /// Sleeps until work of so many seconds has ended that begins when the stream is free, at the
  /// earliest at `earliest`; when that is.
  Moment spend(Moment earliest, double seconds);
  /// The stream is free now: what it did so far took the time that it took.
  void catch_up();

 private:
  Moment done_ = Moment::min();
};

/// Makes sleeps of this thread, and of those that it starts, end on time from here on: to the
/// microsecond, where the system else adds 50 of them.
void sleep_exactly();

}  // namespace stepwright::runtime
