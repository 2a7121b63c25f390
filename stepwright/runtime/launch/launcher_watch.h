#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace stepwright::runtime {

/// Ends a rank whose launcher on this machine (`stepwright train` or torchrun's agent) has ended,
/// or was stopped for longer than a rank may be silent: no process would end the rank if it hung.
class LauncherWatch {
 public:
  /// Prints the message and ends the process with the exit code.
  using End = std::function<void(const std::string& message, int code)>;
  /// Starts to watch, on a thread of its own; a rank without such a launcher is not watched.
  LauncherWatch(std::chrono::milliseconds timeout, End end);
  ~LauncherWatch();
  LauncherWatch(const LauncherWatch&) = delete;
  LauncherWatch& operator=(const LauncherWatch&) = delete;

 private:
  struct State;
  std::unique_ptr<State> state_;  ///< State of the watching thread; null: no launcher is known.
};

}  // namespace stepwright::runtime
