#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace stepwright::transport {

/// Runs calls that may never return, one after the other, on a thread of its own, so that a caller
/// waits for a bounded time only.
class BoundedCalls {
 public:
  /// `silent`: error message for a call that does not return in time.
  explicit BoundedCalls(std::string silent);
  /// Does not wait for a call that hangs: its thread ends when the call returns, or with the
  /// process.
  ~BoundedCalls();
  BoundedCalls(const BoundedCalls&) = delete;
  BoundedCalls& operator=(const BoundedCalls&) = delete;

  /// Runs `call` and rethrows its exceptions. Fails with `kRuntime` if it has not returned within
  /// `patience`; all later calls then fail at once. `call` must own the data that it uses, since it
  /// may outlive the caller. Callable from any thread.
  void run(std::chrono::milliseconds patience, std::function<void()> call);

 private:
  struct Line;
  std::shared_ptr<Line> line_;
};

}  // namespace stepwright::transport
