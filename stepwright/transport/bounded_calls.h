#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace stepwright::transport {

/// Runs calls that may never return, one after the other, on a thread of its own, so that the
/// caller waits for a bounded time only.
class TimeBoundedCalls {
 public:
  /// Creates an object without a thread yet. `silent`: error message if a call does not return in
  /// time.
  explicit TimeBoundedCalls(std::string silent);
  /// Does not wait for a call that hangs: the thread ends when that call returns, or with the
  /// process.
  ~TimeBoundedCalls();
  TimeBoundedCalls(const TimeBoundedCalls&) = delete;
  TimeBoundedCalls& operator=(const TimeBoundedCalls&) = delete;

  /// Runs `call` on another thread and rethrows its exceptions. Fails with `kRuntime` if it does
  /// not return within `patience`; all later calls then fail at once. `call` must own its data,
  /// since it may outlive the caller. May be used from any thread.
  void call_within_time_limit(std::chrono::milliseconds patience, std::function<void()> call);

 private:
  struct Line;
  std::shared_ptr<Line> line_;
};

}  // namespace stepwright::transport
