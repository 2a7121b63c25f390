#include "stepwright/runtime/launch/launcher_watch.h"

#include <fmt/format.h>
#include <sys/types.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <utility>

#include "stepwright/core/input_file.h"

namespace stepwright::runtime {
namespace {

constexpr std::chrono::milliseconds kLook{250};

/// True if this rank's parent is its launcher; false: it may be a shell that starts ranks and ends.
bool has_launcher() {
  return std::getenv("STEPWRIGHT_PARENT") != nullptr ||
         std::getenv("TORCHELASTIC_RUN_ID") != nullptr;
}

/// True if a process is stopped by a signal.
bool is_stopped(pid_t process) {
  constexpr std::size_t kMost = 4096;
  const std::string text =
      read_regular_file(fmt::format("/proc/{}/stat", process), kMost).value_or("");
  const std::size_t name_end = text.rfind(") ");  // the process name may contain any characters
  return name_end != std::string::npos && text.compare(name_end, 3, ") T") == 0;
}

}  // namespace

struct LauncherWatch::State {
  pid_t launcher = ::getppid();
  std::chrono::milliseconds timeout{};
  End end;
  std::mutex mutex;
  std::condition_variable changed;
  bool ends = false;
  std::thread thread;

  void look();
};

/// Checks the launcher. Time is counted in checks, so that a launcher and ranks that were all
/// stopped and resumed together continue.
void LauncherWatch::State::look() {
  std::chrono::milliseconds stopped{};
  std::unique_lock lock(mutex);
  while (!changed.wait_for(lock, kLook, [this] { return ends; })) {
    if (::getppid() != launcher) {
      end(fmt::format("the launcher (process {}) ended", launcher), 1);
      return;
    }
    stopped = is_stopped(launcher) ? stopped + kLook : std::chrono::milliseconds(0);
    if (stopped < timeout) continue;
    end(fmt::format("the launcher (process {}) has been stopped for {} s (--timeout)", launcher,
                    std::chrono::duration<double>(timeout).count()),
        1);
    return;
  }
}

LauncherWatch::LauncherWatch(std::chrono::milliseconds timeout, End end) {
  if (!has_launcher()) return;
  state_ = std::make_unique<State>();
  state_->timeout = timeout;
  state_->end = std::move(end);
  state_->thread = std::thread([state = state_.get()] { state->look(); });
}

LauncherWatch::~LauncherWatch() {
  if (!state_) return;
  {
    const std::scoped_lock lock(state_->mutex);
    state_->ends = true;
    state_->changed.notify_all();
  }
  state_->thread.join();
}

}  // namespace stepwright::runtime
