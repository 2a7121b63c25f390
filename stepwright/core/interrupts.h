#pragma once

#include <signal.h>

#include "stepwright/core/descriptor.h"

namespace stepwright {

/// The signals that ask a program to end: Ctrl-C, a scheduler, a closed terminal.
inline constexpr int kEndingSignals[] = {SIGINT, SIGTERM, SIGHUP};

/// While it lives, SIGINT, SIGTERM and SIGHUP to a program of one thread do not end it but make
/// `fd()` readable, and writing into a closed pipe is an error instead of the end.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  /// Readable once one came.
  [[nodiscard]] int fd() const { return signals_.get(); }

 private:
  sigset_t watched_{};
  sigset_t before_{};
  struct sigaction broken_pipe_before_{};
  Descriptor signals_;
};

}  // namespace stepwright
