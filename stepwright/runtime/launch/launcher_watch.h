#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace stepwright::runtime {

/// Ends this rank if its launcher on this machine (`stepwright train` or torchrun's agent) ended,
/// or was stopped longer than the timeout, because nobody else would end the rank if it hung.
class LauncherWatch {
 public:
  /// Function that prints the message and ends the process with the exit code.
  using End = std::function<void(const std::string& message, int code)>;
  /// Starts a thread that watches the launcher of this rank. Does nothing if this rank was not
  /// started by `stepwright train` or torchrun.
  LauncherWatch(std::chrono::milliseconds timeout, End end);
  ~LauncherWatch();
  LauncherWatch(const LauncherWatch&) = delete;
  LauncherWatch& operator=(const LauncherWatch&) = delete;

 private:
  struct State;
  /// State of the watching thread; null: the rank has no known launcher and is not watched.
  std::unique_ptr<State> state_;
};

}  // namespace stepwright::runtime
