#include "stepwright/runtime/launch/ending_signals.h"

#include <csignal>
#include <cstdlib>
#include <iterator>

namespace stepwright::runtime {
namespace {

volatile std::sig_atomic_t first_signal = 0;

extern "C" void note_signal(int signal) {
  if (first_signal == 0) first_signal = signal;
}

}  // namespace

EndingSignals::EndingSignals() {
  first_signal = 0;
  for (std::size_t i = 0; i < std::size(kEndingSignals); ++i) {
    ::sigaction(kEndingSignals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler == SIG_IGN) continue;
    struct sigaction noting{};
    noting.sa_handler = note_signal;
    ::sigaction(kEndingSignals[i], &noting, nullptr);
  }
}

EndingSignals::~EndingSignals() {
  for (std::size_t i = 0; i < std::size(kEndingSignals); ++i) {
    ::sigaction(kEndingSignals[i], &before_[i], nullptr);
  }
}

int EndingSignals::noted() { return first_signal; }

void end_by(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
  std::abort();
}

}  // namespace stepwright::runtime
