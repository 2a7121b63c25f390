#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace stepwright::transport {

/// Runs calls that may never return, one after the other, on a thread of its own, so that whoever
/// asks waits for a bounded time.
class BoundedCalls {
 public:
  /// `silent`: the message of a call that does not return in time.
  explicit BoundedCalls(std::string silent);
  /// Does not wait for a call that hangs: its thread ends when it returns, or with the process.
  ~BoundedCalls();
  BoundedCalls(const BoundedCalls&) = delete;
  BoundedCalls& operator=(const BoundedCalls&) = delete;

  /// Runs `call` and throws what it throws. Fails with `kRuntime` once it has not returned within
  /// `patience`; all later calls then fail at once. `call` owns what it uses: it may outlive the
  /// caller. Any thread may ask.
  void run(std::chrono::milliseconds patience, std::function<void()> call);

 private:
  struct Line;
  std::shared_ptr<Line> line_;
};

}  // namespace stepwright::transport
