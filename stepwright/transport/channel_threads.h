#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace stepwright::transport {

/// A pool of threads that run the channels of a collective's schedule in parallel. The caller's
/// thread runs one channel; the other threads are kept for later runs.
class CollectiveChannelThreadPool {
 public:
  CollectiveChannelThreadPool() = default;
  CollectiveChannelThreadPool(const CollectiveChannelThreadPool&) = delete;
  CollectiveChannelThreadPool& operator=(const CollectiveChannelThreadPool&) = delete;
  ~CollectiveChannelThreadPool();

  /// Runs `act(0)` to `act(count - 1)` in parallel and returns when all are done. `act` must not
  /// throw. One run at a time.
  void run_in_parallel(std::size_t count, const std::function<void(std::size_t)>& act);

 private:
  void serve(std::size_t index);

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void(std::size_t)>* act_ = nullptr;
  std::size_t count_ = 0;
  std::size_t running_ = 0;
  std::uint64_t round_ = 0;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace stepwright::transport
