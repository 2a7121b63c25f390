#include "stepwright/core/interrupts.h"

#include <sys/signalfd.h>

namespace stepwright {

Interrupts::Interrupts() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&signals, signal);
  ::sigprocmask(SIG_BLOCK, &signals, &before_);
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &broken_pipe_before_);
  signals_ = Descriptor(checked(::signalfd(-1, &signals, SFD_CLOEXEC), "watch signals"));
}

Interrupts::~Interrupts() {
  ::sigaction(SIGPIPE, &broken_pipe_before_, nullptr);
  ::sigprocmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace stepwright
