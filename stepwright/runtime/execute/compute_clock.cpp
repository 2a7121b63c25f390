#include "stepwright/runtime/execute/compute_clock.h"

#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace stepwright::runtime {

Moment StreamPacer::sleep_until_work_ends(Moment earliest, double seconds) {
  done_ = std::max(done_, earliest) +
          std::chrono::duration_cast<Moment::duration>(std::chrono::duration<double>(seconds));
  std::this_thread::sleep_until(done_);
  return done_;
}

void StreamPacer::mark_stream_free_now() { done_ = Moment::clock::now(); }

void enable_precise_sleep() { ::prctl(PR_SET_TIMERSLACK, 1UL); }

}  // namespace stepwright::runtime
