#include "stepwright/core/interrupts.h"

#include <sys/signalfd.h>

namespace stepwright {

Interrupts::Interrupts() {
  ::sigemptyset(&watched_);
  for (const int signal : kEndingSignals) ::sigaddset(&watched_, signal);
  ::sigprocmask(SIG_BLOCK, &watched_, &before_);
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &broken_pipe_before_);
  signals_ = Descriptor(checked(::signalfd(-1, &watched_, SFD_CLOEXEC), "watch signals"));
}

Interrupts::~Interrupts() {
  const timespec now{};  // what came meant what has just ended
  while (::sigtimedwait(&watched_, nullptr, &now) > 0) {
  }
  ::sigaction(SIGPIPE, &broken_pipe_before_, nullptr);
  ::sigprocmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace stepwright
