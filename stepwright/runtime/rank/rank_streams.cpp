#include "stepwright/runtime/rank/rank_streams.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace stepwright::runtime {

struct RankStreams::Lane {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> queue;
  std::int64_t submitted = 0;
  std::int64_t done = 0;
  struct End {
    Moment when;
    DeviceMark mark;
  };
  std::vector<End> ended;      ///< End times of the latest finished pieces of work.
  std::int64_t forgotten = 0;  ///< Number of pieces that ended before those in `ended`.
  std::exception_ptr failure;
  bool ends = false;
  std::thread thread;

  void work(RankDevice& device) {
    device.create_device_queue_for_thread();
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
      DeviceMark mark = device.record_device_event();
      lock.lock();
      if (thrown) failure = thrown;
      ended.push_back({std::chrono::steady_clock::now(), std::move(mark)});
      ++done;
      changed.notify_all();
    }
  }
};

RankStreams::RankStreams(Compute compute, RankDevice& device) : device_(device) {
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    const bool thread = static_cast<step::DeviceStream>(i) != step::DeviceStream::kCompute ||
                        compute == Compute::kThread;
    if (thread) lanes_[i] = std::make_unique<Lane>();
  }
}

RankStreams::~RankStreams() {
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

bool RankStreams::stream_has_own_thread(step::DeviceStream stream) const {
  return lanes_.at(static_cast<std::size_t>(stream)) != nullptr;
}

StreamTicket RankStreams::queue_work_on_stream(step::DeviceStream stream,
                                               std::function<void()> work) {
  Lane& lane = *lanes_.at(static_cast<std::size_t>(stream));
  const std::scoped_lock lock(lane.mutex);
  if (!lane.thread.joinable()) lane.thread = std::thread([&lane, this] { lane.work(device_); });
  lane.queue.push_back(std::move(work));
  lane.changed.notify_all();
  return {stream, ++lane.submitted};
}

StreamTicket RankStreams::last_queued_work_ticket(step::DeviceStream stream) const {
  if (!stream_has_own_thread(stream)) return {};
  Lane& lane = *lanes_.at(static_cast<std::size_t>(stream));
  const std::scoped_lock lock(lane.mutex);
  return {stream, lane.submitted};
}

Moment RankStreams::wait_for_ticket(StreamTicket ticket) {
  if (ticket.number == 0) return Moment::min();
  Lane& lane = *lanes_.at(static_cast<std::size_t>(ticket.stream));
  std::unique_lock lock(lane.mutex);
  lane.changed.wait(lock, [&] { return lane.done >= ticket.number; });
  if (lane.failure) std::rethrow_exception(lane.failure);
  if (ticket.number <= lane.forgotten) return Moment::min();
  const Lane::End& end = lane.ended[static_cast<std::size_t>(ticket.number - lane.forgotten - 1)];
  device_.wait_for_device_event(end.mark);
  return end.when;
}

void RankStreams::wait_for_all_streams() {
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (!lanes_[i]) continue;
    wait_for_ticket(last_queued_work_ticket(static_cast<step::DeviceStream>(i)));
    const std::scoped_lock lock(lanes_[i]->mutex);
    lanes_[i]->ended.clear();
    lanes_[i]->forgotten = lanes_[i]->done;
  }
}

}  // namespace stepwright::runtime
