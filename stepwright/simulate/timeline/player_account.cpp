#include <algorithm>
#include <bit>

#include "stepwright/simulate/timeline/player.h"

namespace stepwright::simulate {
/// Books the time since the last event, during which nothing of this stage changed.
void StageSimulator::spend_until(double now_s) {
  const double from_s = now_s_;
  if (now_s <= from_s) return;
  if ((computing_ & (1U << kComputeQueueIndex)) == 0) {
    spend_idle(from_s, now_s);
  } else if (slow_ > 1) {
    const double elapsed_s = now_s - from_s;
    spend_on_streams(running_ & ~computing_, elapsed_s - elapsed_s / slow_);
  }
}

/// Books time in which the compute stream waited, on what its head waits for. The search follows a
/// wait to the operator at the head of the awaited stream and, if that operator waits too, on to
/// what it waits for.
void StageSimulator::spend_idle(double from_s, double now_s) {
  const double elapsed_s = now_s - from_s;
  int s = kComputeQueueIndex;
  if ((unfinished_ & 1U) == 0) {
    const unsigned messages = (running_ | held_) & ~computing_;
    const unsigned blamed = messages != 0 ? messages : running_;
    if (blamed != 0) return spend_on_streams(blamed, elapsed_s);
    s = unfinished_ == 0 ? s : std::countr_zero(unfinished_);
  }
  for (int hop = 0; hop < step::kStreams; ++hop) {
    const unsigned self = 1U << static_cast<unsigned>(s);
    if (((running_ | held_) & self) != 0) return spend_on(head(s), elapsed_s);
    if ((waiting_ & self) == 0) break;
    const StreamQueueState& lane = lanes_[s];
    const TaskWaitCondition& wait = *lane.wait;
    if (wait.lane == kArrivals) {
      // The part of the wait in which the message was in flight.
      const double sent_s = arrivals_[lane.receives + wait.count].sent_s;
      const double on_way_s = std::max(0.0, now_s - std::max(from_s, sent_s));
      account_.exposed_s[static_cast<int>(step::ParallelismScheme::kPipeline)] += on_way_s;
      account_.bubble_s += elapsed_s - on_way_s;
      return;
    }
    s = wait.lane;
  }
  account_.bubble_s += elapsed_s;
}

void StageSimulator::spend_on(const StreamTask& task, double seconds) {
  if (task.role == TaskRole::kComputation) {
    (task.optimizer ? account_.optimizer_s : account_.compute_s) += seconds;
  } else {
    account_.exposed_s[static_cast<int>(task.scheme)] += seconds;
  }
}

/// Splits time evenly over the tasks that run on these streams.
void StageSimulator::spend_on_streams(unsigned streams, double seconds) {
  const double share = seconds / std::popcount(streams);
  for (unsigned m = streams; m != 0; m &= m - 1) spend_on(head(std::countr_zero(m)), share);
}

}  // namespace stepwright::simulate
