#pragma once

#include <signal.h>

#include <array>

namespace stepwright::runtime {

/// Notes the first signal that asks this process to end (Ctrl-C, SIGTERM, a closed terminal)
/// instead of ending it, as long as it lives. Signals that were ignored before stay so. One at a
/// time.
class EndingSignals {
 public:
  EndingSignals();
  ~EndingSignals();
  EndingSignals(const EndingSignals&) = delete;
  EndingSignals& operator=(const EndingSignals&) = delete;

  /// The signal; 0: none came.
  [[nodiscard]] static int noted();

 private:
  static constexpr std::array<int, 3> kSignals = {SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kSignals.size()> before_{};
};

/// Ends this process by a signal, as if nothing had noted it: a shell that waits sees which.
[[noreturn]] void end_by(int signal);

}  // namespace stepwright::runtime
