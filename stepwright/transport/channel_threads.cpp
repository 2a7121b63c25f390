#include "stepwright/transport/channel_threads.h"

namespace stepwright::transport {

CollectiveChannelThreadPool::~CollectiveChannelThreadPool() {
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void CollectiveChannelThreadPool::run_in_parallel(std::size_t count,
                                                  const std::function<void(std::size_t)>& act) {
  if (count == 0) return;
  {
    const std::scoped_lock lock(mutex_);
    act_ = &act;
    count_ = count;
    running_ = count - 1;
    ++round_;
    while (threads_.size() + 1 < count) {
      threads_.emplace_back([this, index = threads_.size() + 1] { serve(index); });
    }
  }
  changed_.notify_all();
  act(0);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return running_ == 0; });
}

void CollectiveChannelThreadPool::serve(std::size_t index) {
  std::uint64_t seen = 0;
  while (true) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock,
                  [&] { return stop_ || (round_ != seen && index < count_ && running_ > 0); });
    if (stop_) return;
    seen = round_;
    const auto& act = *act_;
    lock.unlock();
    act(index);
    lock.lock();
    --running_;
    lock.unlock();
    changed_.notify_all();
  }
}

}  // namespace stepwright::transport
