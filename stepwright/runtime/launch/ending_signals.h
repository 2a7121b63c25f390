#pragma once

#include <signal.h>

#include <array>
#include <iterator>

#include "stepwright/core/interrupts.h"

namespace stepwright::runtime {

/// Notes the first of `kEndingSignals` instead of ending this process, as long as it lives. Signals
/// that were ignored before stay so. `Interrupts` blocks them, which the ranks that are started
/// would inherit. One at a time.
class EndingSignals {
 public:
  EndingSignals();
  ~EndingSignals();
  EndingSignals(const EndingSignals&) = delete;
  EndingSignals& operator=(const EndingSignals&) = delete;

  /// The signal; 0: none came.
  [[nodiscard]] static int noted();

 private:
  std::array<struct sigaction, std::size(kEndingSignals)> before_{};
};

/// Ends this process by a signal, as if nothing had noted it: a shell that waits sees which.
[[noreturn]] void end_by(int signal);

}  // namespace stepwright::runtime
