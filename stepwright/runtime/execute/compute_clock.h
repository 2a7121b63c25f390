#pragma once

#include "stepwright/runtime/rank/rank_streams.h"

namespace stepwright::runtime {

/// Makes work of a stream take a prescribed time, by sleeping. End times are computed from each
/// other, so that a sleep that was too long shortens the next one. Only for the thread of that
/// stream.
class StreamPacer {
 public:
  /// Sleeps until work of `seconds` would have ended, and returns that moment. The work starts when
  /// the stream is free, but not before `earliest`.
  Moment sleep_until_work_ends(Moment earliest, double seconds);
  /// Marks the stream as free from now on, after work that was not slept for but took its real
  /// time.
  void mark_stream_free_now();

 private:
  Moment done_ = Moment::min();
};

/// Makes this thread, and threads that it starts later, wake from sleeps within a microsecond of
/// the requested time; by default Linux adds 50 microseconds.
void enable_precise_sleep();

}  // namespace stepwright::runtime
