#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <span>
#include <vector>

#include "stepwright/collective/schedule.h"

namespace stepwright::transport {

/// The steps that each channel of a rank has done in the current run of a collective, shared by the
/// channels' threads.
class RunState {
 public:
  /// Starts with no step done on any of `channels` channels.
  explicit RunState(std::size_t channels) : done_(channels) {}

  /// Records that a channel has done its next step, and wakes channels that wait for it.
  void step_over(std::size_t channel);

  /// True if all steps in `waits` (of other channels) are done.
  [[nodiscard]] bool all_over(std::span<const collective::StepWait> waits);

  /// Waits until all steps in `waits` (of other channels) are done; throws `Error{kRuntime}` if a
  /// channel has failed.
  void await(std::span<const collective::StepWait> waits);

  /// Stores an error if it is the first of the run, and wakes all waiting channels. Returns true if
  /// it was the first.
  bool fail(std::exception_ptr failure);

  /// Throws the first error of the run, if there was any.
  void rethrow() const;

 private:
  [[nodiscard]] bool over(std::span<const collective::StepWait> waits) const;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::int32_t> done_;
  std::exception_ptr failure_;
};

}  // namespace stepwright::transport
