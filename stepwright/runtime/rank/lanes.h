#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "stepwright/runtime/rank/rank_device.h"
#include "stepwright/step/operator.h"

namespace stepwright::runtime {

using Moment = std::chrono::steady_clock::time_point;

/// A moment on a lane: after its first `number` pieces of work; 0: immediately.
struct StreamTicket {
  step::Stream stream = step::Stream::kCompute;
  std::int64_t number = 0;
};

/// The streams of a rank. Each is a thread that works through a queue in order and, on a device
/// that runs asynchronously, issues to a device queue of its own; except a compute stream whose
/// work runs where it is issued.
class Lanes {
 public:
  enum class Compute : std::uint8_t { kWhereIssued, kThread };
  /// `device`: where the work runs; it must outlive the lanes.
  Lanes(Compute compute, RankDevice& device);
  ~Lanes();
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  /// True if a stream has a thread and a queue.
  [[nodiscard]] bool queues(step::Stream stream) const;
  /// Queues work on a stream that has a thread.
  StreamTicket submit(step::Stream stream, std::function<void()> work);
  /// Returns the moment after all work queued on a stream so far; immediately if it has no thread.
  [[nodiscard]] StreamTicket last(step::Stream stream) const;
  /// Waits for a moment and returns when it was. On a device that runs asynchronously, waits only
  /// until the work is issued, and makes later work of this thread come after it on the device. For
  /// a moment before the last `wait_all`, and for "immediately", returns the beginning of time.
  /// Rethrows exceptions of the lane's work.
  Moment wait(StreamTicket ticket);
  /// Waits until every lane is idle.
  void wait_all();

 private:
  struct Lane;
  RankDevice& device_;
  std::array<std::unique_ptr<Lane>, step::kStreams> lanes_;
};

}  // namespace stepwright::runtime
