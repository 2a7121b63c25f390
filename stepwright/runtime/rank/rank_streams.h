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

/// A moment in a stream's queue of work: when the first `number` pieces of work are done; 0:
/// immediately.
struct StreamTicket {
  step::DeviceStream stream = step::DeviceStream::kCompute;
  std::int64_t number = 0;
};

/// The streams of a rank. Each is a thread that works through a queue in order and, on a GPU,
/// issues to a device queue of its own. With Compute::kWhereIssued, the compute stream has no
/// thread: its work runs where it is issued.
class RankStreams {
 public:
  enum class Compute : std::uint8_t { kWhereIssued, kThread };
  /// `device`: device on which the work runs; it must outlive this object.
  RankStreams(Compute compute, RankDevice& device);
  ~RankStreams();
  RankStreams(const RankStreams&) = delete;
  RankStreams& operator=(const RankStreams&) = delete;

  /// True if a stream has a thread and a queue; false: its work runs on the issuing thread.
  [[nodiscard]] bool stream_has_own_thread(step::DeviceStream stream) const;
  /// Queues work on a stream that has a thread. Returns the moment at which this work is done.
  StreamTicket queue_work_on_stream(step::DeviceStream stream, std::function<void()> work);
  /// Returns the moment at which all work queued on a stream so far is done; immediately if the
  /// stream has no thread.
  [[nodiscard]] StreamTicket last_queued_work_ticket(step::DeviceStream stream) const;
  /// Waits until a moment in a stream's queue, and returns its time. On a GPU, waits only until the
  /// work is issued, and orders later work of this thread after it on the device. Returns the
  /// beginning of time for a moment before the last `wait_for_all_streams` or for "immediately".
  /// Rethrows exceptions of the stream's work.
  Moment wait_for_ticket(StreamTicket ticket);
  /// Waits until all streams are idle.
  void wait_for_all_streams();

 private:
  struct Lane;
  RankDevice& device_;
  std::array<std::unique_ptr<Lane>, step::kStreams> lanes_;
};

}  // namespace stepwright::runtime
