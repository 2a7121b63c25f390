#include "stepwright/transport/run_state.h"

#include <algorithm>
#include <utility>

#include "stepwright/core/error.h"

namespace stepwright::transport {

void CollectiveChannelProgress::mark_step_done(std::size_t channel) {
  {
    const std::scoped_lock lock(mutex_);
    ++steps_done_by_channel_[channel];
  }
  changed_.notify_all();
}

bool CollectiveChannelProgress::over(
    std::span<const collective::CollectiveStepDependency> waits) const {
  return std::ranges::all_of(waits, [&](const collective::CollectiveStepDependency& wait) {
    return steps_done_by_channel_[static_cast<std::size_t>(wait.on.channel)] > wait.on.step;
  });
}

bool CollectiveChannelProgress::are_steps_done(
    std::span<const collective::CollectiveStepDependency> waits) {
  if (waits.empty()) return true;
  const std::scoped_lock lock(mutex_);
  return over(waits);
}

void CollectiveChannelProgress::wait_for_steps(
    std::span<const collective::CollectiveStepDependency> waits) {
  if (waits.empty()) return;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return failure_ != nullptr || over(waits); });
  if (failure_) throw Error(ErrorKind::kRuntime, "another channel has failed");
}

bool CollectiveChannelProgress::fail(std::exception_ptr failure) {
  {
    const std::scoped_lock lock(mutex_);
    if (failure_) return false;
    failure_ = std::move(failure);
  }
  changed_.notify_all();
  return true;
}

void CollectiveChannelProgress::rethrow_first_error() const {
  const std::scoped_lock lock(mutex_);
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace stepwright::transport
