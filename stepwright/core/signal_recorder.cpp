#include "stepwright/core/signal_recorder.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>

namespace stepwright {
namespace {

/// The process that records signals, and its pipe. A forked child has copies of both until it
/// starts its program.
std::atomic<pid_t> noting_process = 0;
std::atomic<int> noting_pipe = -1;
static_assert(std::atomic<pid_t>::is_always_lock_free);

void note(int signal) {
  const int error = errno;
  const auto number = static_cast<char>(signal);
  if (::getpid() == noting_process) static_cast<void>(::write(noting_pipe, &number, 1) < 0);
  errno = error;
}

/// Used instead of SIG_IGN, which programs started by this process would inherit.
void pass_over(int /*signal*/) {}

void handle(int signal, void (*handler)(int), struct sigaction& before) {
  ::sigaction(signal, nullptr, &before);
  if (before.sa_handler == SIG_IGN) return;
  struct sigaction handling{};
  handling.sa_handler = handler;
  handling.sa_flags = SA_RESTART;
  ::sigaction(signal, &handling, nullptr);
}

}  // namespace

SignalRecorder::SignalRecorder() {
  for (const FileDescriptor* end : {&noted_.read, &noted_.write}) {
    checked_system_call(::fcntl(end->get(), F_SETFL, O_NONBLOCK), "watch signals");
  }
  noting_pipe = noted_.write.get();
  noting_process = ::getpid();
  for (std::size_t i = 0; i < before_.size(); ++i)
    handle(kProgramEndingSignals[i], note, before_[i]);
  handle(SIGPIPE, pass_over, broken_pipe_before_);
}

SignalRecorder::~SignalRecorder() {
  for (std::size_t i = 0; i < before_.size(); ++i) {
    ::sigaction(kProgramEndingSignals[i], &before_[i], nullptr);
  }
  ::sigaction(SIGPIPE, &broken_pipe_before_, nullptr);
  noting_process = 0;
}

int SignalRecorder::take_oldest_signal() const {
  unsigned char number = 0;
  return ::read(signal_descriptor(), &number, 1) == 1 ? number : 0;
}

void end_process_by_signal(int signal) {
  struct sigaction usual{};
  usual.sa_handler = SIG_DFL;
  ::sigaction(signal, &usual, nullptr);
  ::raise(signal);
  std::abort();
}

}  // namespace stepwright
