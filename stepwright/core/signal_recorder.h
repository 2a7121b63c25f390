#pragma once

#include <signal.h>

#include <array>
#include <iterator>

#include "stepwright/core/descriptor.h"

namespace stepwright {

/// Signals that ask a program to end: SIGINT (Ctrl-C), SIGTERM (a scheduler), SIGHUP (a closed
/// terminal).
inline constexpr int kProgramEndingSignals[] = {SIGINT, SIGTERM, SIGHUP};

/// While an object of this class exists, SIGINT, SIGTERM and SIGHUP are recorded instead of ending
/// this process, and writing into a closed pipe returns an error. Signals that were ignored before
/// (nohup) stay ignored. Programs that this process starts handle signals as usual; a forked child
/// discards signals until it starts its program. Only one object may exist at a time.
class SignalRecorder {
 public:
  SignalRecorder();
  ~SignalRecorder();
  SignalRecorder(const SignalRecorder&) = delete;
  SignalRecorder& operator=(const SignalRecorder&) = delete;

  /// Returns a file descriptor that is readable while a signal is recorded that
  /// `take_oldest_signal` has not removed.
  [[nodiscard]] int signal_descriptor() const { return noted_.read.get(); }
  /// Removes the oldest recorded signal and returns its number; 0: none is recorded.
  [[nodiscard]] int take_oldest_signal() const;

 private:
  Pipe noted_;  ///< Pipe that holds the number of each recorded signal as one byte.
  std::array<struct sigaction, std::size(kProgramEndingSignals)> before_{};
  struct sigaction broken_pipe_before_{};
};

/// Ends this process by a signal with its default action, so that a waiting shell sees which signal
/// ended it.
[[noreturn]] void end_process_by_signal(int signal);

}  // namespace stepwright
