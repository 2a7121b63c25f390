#include "stepwright/transport/run_state.h"

#include <algorithm>
#include <utility>

#include "stepwright/core/error.h"

namespace stepwright::transport {

void ChannelStepProgress::mark_step_done(std::size_t channel) {
  {
    const std::scoped_lock lock(mutex_);
    ++done_[channel];
  }
  changed_.notify_all();
}

bool ChannelStepProgress::over(std::span<const collective::ScheduleStepDependency> waits) const {
  return std::ranges::all_of(waits, [&](const collective::ScheduleStepDependency& wait) {
    return done_[static_cast<std::size_t>(wait.on.channel)] > wait.on.step;
  });
}

bool ChannelStepProgress::are_steps_done(
    std::span<const collective::ScheduleStepDependency> waits) {
  if (waits.empty()) return true;
  const std::scoped_lock lock(mutex_);
  return over(waits);
}

void ChannelStepProgress::wait_for_steps(
    std::span<const collective::ScheduleStepDependency> waits) {
  if (waits.empty()) return;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return failure_ != nullptr || over(waits); });
  if (failure_) throw Error(ErrorKind::kRuntime, "another channel has failed");
}

bool ChannelStepProgress::fail(std::exception_ptr failure) {
  {
    const std::scoped_lock lock(mutex_);
    if (failure_) return false;
    failure_ = std::move(failure);
  }
  changed_.notify_all();
  return true;
}

void ChannelStepProgress::rethrow_first_error() const {
  const std::scoped_lock lock(mutex_);
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace stepwright::transport
