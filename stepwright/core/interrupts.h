#pragma once

#include <signal.h>

#include <array>
#include <iterator>

#include "stepwright/core/descriptor.h"

namespace stepwright {

/// The signals that ask a program to end: Ctrl-C, a scheduler, a closed terminal.
inline constexpr int kEndingSignals[] = {SIGINT, SIGTERM, SIGHUP};

/// While an object of this class lives, `kEndingSignals` do not end this process but are recorded,
/// whichever thread receives them, and writing into a closed pipe returns an error instead of
/// ending it. Signals that were ignored before (nohup) stay ignored. Programs that this process
/// starts have the usual signals; a forked child that has not yet started its program discards
/// them. Only one object may live at a time.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  /// Returns a descriptor that is readable while a recorded signal has not been taken.
  [[nodiscard]] int fd() const { return noted_.read.get(); }
  /// Removes and returns the next recorded signal; 0: none is recorded.
  [[nodiscard]] int take() const;

 private:
  Pipe noted_;  ///< Pipe with one byte for each recorded signal: its number.
  std::array<struct sigaction, std::size(kEndingSignals)> before_{};
  struct sigaction broken_pipe_before_{};
};

/// Ends this process by a signal with its default action, so that a waiting shell sees which signal
/// ended it.
[[noreturn]] void end_by_signal(int signal);

}  // namespace stepwright
