#include "stepwright/runtime/lanes.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

namespace stepwright {

struct Lanes::Lane {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> queue;
  std::int64_t submitted = 0;
  std::int64_t done = 0;
  std::exception_ptr failure;
  bool ends = false;
  std::thread thread;

  void work() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return ends || !queue.empty(); });
      if (queue.empty()) return;
      std::function<void()> next = std::move(queue.front());
      queue.pop_front();
      lock.unlock();
      std::exception_ptr thrown;
      try {
        if (!failure) next();
      } catch (...) {
        thrown = std::current_exception();
      }
      next = nullptr;
      lock.lock();
      if (thrown) failure = thrown;
      ++done;
      changed.notify_all();
    }
  }
};

Lanes::Lanes() {
  for (std::size_t i = 1; i < lanes_.size(); ++i) lanes_[i] = std::make_unique<Lane>();
}

Lanes::~Lanes() {
  for (const auto& lane : lanes_) {
    if (!lane || !lane->thread.joinable()) continue;
    {
      const std::scoped_lock lock(lane->mutex);
      lane->ends = true;
      lane->changed.notify_all();
    }
    lane->thread.join();
  }
}

Ticket Lanes::submit(Stream stream, std::function<void()> work) {
  Lane& lane = *lanes_.at(static_cast<std::size_t>(stream));
  const std::scoped_lock lock(lane.mutex);
  if (!lane.thread.joinable()) lane.thread = std::thread([&lane] { lane.work(); });
  lane.queue.push_back(std::move(work));
  lane.changed.notify_all();
  return {stream, ++lane.submitted};
}

void Lanes::wait(Ticket ticket) {
  if (ticket.number == 0) return;
  Lane& lane = *lanes_.at(static_cast<std::size_t>(ticket.stream));
  std::unique_lock lock(lane.mutex);
  lane.changed.wait(lock, [&] { return lane.done >= ticket.number; });
  if (lane.failure) std::rethrow_exception(lane.failure);
}

void Lanes::wait_all() {
  for (std::size_t i = 1; i < lanes_.size(); ++i) {
    std::int64_t submitted = 0;
    {
      const std::scoped_lock lock(lanes_[i]->mutex);
      submitted = lanes_[i]->submitted;
    }
    wait({static_cast<Stream>(i), submitted});
  }
}

}  // namespace stepwright
