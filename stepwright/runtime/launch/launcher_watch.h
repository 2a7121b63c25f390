#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace stepwright::runtime {

/// Ends a rank whose launcher on this machine (`stepwright train` or torchrun's agent) ended, or
/// was stopped for longer than a rank may be silent: nobody would end the rank if it hung.
class LauncherWatch {
 public:
  /// Ends the process: prints the message, exits with the code.
  using End = std::function<void(const std::string& message, int code)>;
  /// Watches from here on, from a thread of its own; a rank without such a launcher is not watched.
  LauncherWatch(std::chrono::milliseconds timeout, End end);
  ~LauncherWatch();
  LauncherWatch(const LauncherWatch&) = delete;
  LauncherWatch& operator=(const LauncherWatch&) = delete;

 private:
  struct State;
  std::unique_ptr<State> state_;  ///< Null: no launcher is known.
};

}  // namespace stepwright::runtime
