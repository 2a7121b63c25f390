#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <span>
#include <vector>

#include "stepwright/collective/schedule.h"

namespace stepwright::transport {

/// The progress that the channels of a rank share during a run.
class RunState {
 public:
  /// Makes the state of a run in which no step is done.
  explicit RunState(std::size_t channels) : done_(channels) {}

  /// Records that the next step of a channel is done.
  void step_over(std::size_t channel);

  /// True if all steps that `waits` names are done.
  [[nodiscard]] bool all_over(std::span<const collective::StepWait> waits);

  /// Returns when all steps that `waits` names are done; throws `Error{kRuntime}` when a channel
  /// has failed.
  void await(std::span<const collective::StepWait> waits);

  /// Stores the first failure and wakes all that wait. Returns true if this was the first.
  bool fail(std::exception_ptr failure);

  /// Throws the first failure, if any.
  void rethrow() const;

 private:
  [[nodiscard]] bool over(std::span<const collective::StepWait> waits) const;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::int32_t> done_;
  std::exception_ptr failure_;
};

}  // namespace stepwright::transport
