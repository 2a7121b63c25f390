#pragma once

#include <signal.h>

#include <array>
#include <iterator>

#include "stepwright/core/descriptor.h"

namespace stepwright {

/// The signals that ask a program to end: Ctrl-C, a scheduler, a closed terminal.
inline constexpr int kEndingSignals[] = {SIGINT, SIGTERM, SIGHUP};

/// While it lives, `kEndingSignals` do not end this process but are noted, whichever thread gets
/// them, and writing into a closed pipe is an error instead of the end. Signals that were ignored
/// before (nohup) stay so. A program that is started has its signals as usual; a child process that
/// has not started its program passes over them. One at a time.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  /// Readable while a signal waits to be taken.
  [[nodiscard]] int fd() const { return noted_.read.get(); }
  /// Takes the next signal that came; 0: none waits.
  [[nodiscard]] int take() const;

 private:
  Pipe noted_;  ///< A byte for each signal: its number.
  std::array<struct sigaction, std::size(kEndingSignals)> before_{};
  struct sigaction broken_pipe_before_{};
};

/// Ends this process by a signal, as if nothing had noted it: a shell that waits sees which.
[[noreturn]] void end_by(int signal);

}  // namespace stepwright
