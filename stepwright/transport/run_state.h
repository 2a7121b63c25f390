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
class CollectiveChannelProgress {
 public:
  /// Starts with no step done on any of `channels` channels.
  explicit CollectiveChannelProgress(std::size_t channels) : steps_done_by_channel_(channels) {}

  /// Records that a channel has done its next step, and wakes channels that wait for it.
  void mark_step_done(std::size_t channel);

  /// True if all steps in `waits` (of other channels) are done.
  [[nodiscard]] bool are_steps_done(std::span<const collective::CollectiveStepDependency> waits);

  /// Waits until all steps in `waits` (of other channels) are done; throws `Error{kRuntime}` if a
  /// channel has failed.
  void wait_for_steps(std::span<const collective::CollectiveStepDependency> waits);

  /// Stores an error if it is the first of the run, and wakes all waiting channels. Returns true if
  /// it was the first.
  bool fail(std::exception_ptr failure);

  /// Throws the first error of the run, if there was any.
  void rethrow_first_error() const;

 private:
  [[nodiscard]] bool over(std::span<const collective::CollectiveStepDependency> waits) const;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::int32_t> steps_done_by_channel_;
  std::exception_ptr failure_;
};

}  // namespace stepwright::transport
