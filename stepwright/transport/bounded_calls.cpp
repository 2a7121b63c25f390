#include "stepwright/transport/bounded_calls.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "stepwright/core/error.h"

namespace stepwright::transport {

/// The calls that wait for the thread. The thread shares this object, and may outlive the owner.
struct TimeBoundedCalls::Line {
  struct Call {
    std::function<void()> act;
    bool done = false;
    std::exception_ptr failure = nullptr;
  };

  std::string silent;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::shared_ptr<Call>> waiting;
  bool started = false;
  bool lost = false;  ///< True once a call did not return in time.
  bool ends = false;

  void serve();
};

void TimeBoundedCalls::Line::serve() {
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [this] { return ends || lost || !waiting.empty(); });
    if (ends || lost) return;
    const std::shared_ptr<Call> call = std::move(waiting.front());
    waiting.pop_front();
    lock.unlock();
    try {
      call->act();
    } catch (...) {
      call->failure = std::current_exception();
    }
    lock.lock();
    call->done = true;
    changed.notify_all();
  }
}

TimeBoundedCalls::TimeBoundedCalls(std::string silent) : line_(std::make_shared<Line>()) {
  line_->silent = std::move(silent);
}

TimeBoundedCalls::~TimeBoundedCalls() {
  const std::scoped_lock lock(line_->mutex);
  line_->ends = true;
  line_->changed.notify_all();
}

void TimeBoundedCalls::call_within_time_limit(std::chrono::milliseconds patience,
                                              std::function<void()> call) {
  const auto own = std::make_shared<Line::Call>(Line::Call{.act = std::move(call)});
  std::unique_lock lock(line_->mutex);
  if (line_->lost) throw Error(ErrorKind::kRuntime, line_->silent);
  if (!std::exchange(line_->started, true)) {
    std::thread([line = line_] { line->serve(); }).detach();
  }
  line_->waiting.push_back(own);
  line_->changed.notify_all();
  line_->changed.wait_for(lock, patience, [&] { return own->done || line_->lost; });
  if (!own->done) {
    line_->lost = true;
    line_->changed.notify_all();
    throw Error(ErrorKind::kRuntime, line_->silent);
  }
  if (own->failure) std::rethrow_exception(own->failure);
}

}  // namespace stepwright::transport
