#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <span>
#include <vector>

#include "stepwright/collective/schedule.h"

namespace stepwright::transport {

/// The knowledge that the channels of a rank share during a run.
class RunState {
 public:
  /// The state of a run that has not begun.
  explicit RunState(std::size_t channels) : done_(channels) {}

  /// The next step of a channel is over.
  void step_over(std::size_t channel);

  /// Whether all these steps are over.
  [[nodiscard]] bool all_over(std::span<const collective::StepWait> waits);

  /// Returns when all these steps are over; throws `Error{kRuntime}` when a channel has failed.
  void await(std::span<const collective::StepWait> waits);

  /// Keeps the first failure and wakes those who wait. Returns whether this is the first.
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
