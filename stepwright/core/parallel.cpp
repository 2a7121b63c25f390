#include "stepwright/core/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace stepwright {
namespace {

/// The state shared by the threads of one loop.
class Loop {
 public:
  Loop(std::size_t count, const std::function<void(std::size_t)>& body)
      : count_(count), body_(body) {}

  /// Takes indices until none is left or a call has failed.
  void work() {
    while (!failed_.load(std::memory_order_relaxed)) {
      const std::size_t index = next_.fetch_add(1, std::memory_order_relaxed);
      if (index >= count_) return;
      try {
        body_(index);
      } catch (...) {
        keep(index, std::current_exception());
      }
    }
  }

  /// Throws the stored exception; called after all threads have ended.
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  // Indices are handed out in order, so the call with the lowest failing index has always been
  // started.
  void keep(std::size_t index, std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (!error_ || index < failed_index_) {
      failed_index_ = index;
      error_ = std::move(error);
    }
    failed_.store(true, std::memory_order_relaxed);
  }

  const std::size_t count_;
  const std::function<void(std::size_t)>& body_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::size_t failed_index_ = 0;
  std::exception_ptr error_;
};

/// Starts up to `wanted` threads, or fewer if the machine refuses; the ones that run do all the
/// work.
std::vector<std::jthread> start_helpers(std::size_t wanted, Loop& loop) {
  std::vector<std::jthread> helpers;
  helpers.reserve(wanted);
  try {
    while (helpers.size() < wanted) helpers.emplace_back([&loop] { loop.work(); });
  } catch (const std::system_error&) {
    return helpers;
  }
  return helpers;
}

}  // namespace

void parallel_for(int threads, std::size_t count, const std::function<void(std::size_t)>& body) {
  Loop loop(count, body);
  const std::size_t wanted = std::min(static_cast<std::size_t>(std::max(threads, 1)), count);
  {
    const std::vector<std::jthread> helpers = start_helpers(wanted > 0 ? wanted - 1 : 0, loop);
    loop.work();
  }
  loop.rethrow();
}

}  // namespace stepwright
