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

/// A moment on a lane: after its first `number` pieces of work; 0: at once.
struct Ticket {
  step::Stream stream = step::Stream::kCompute;
  std::int64_t number = 0;
};

/// The streams of a rank: each is a thread that works off a queue in order, and on a device that
/// runs behind issues to a queue of its own; but for a compute stream whose work runs where it is
/// issued.
class Lanes {
 public:
  enum class Compute : std::uint8_t { kWhereIssued, kThread };
  /// `device`: where the work runs; it outlives the lanes.
  Lanes(Compute compute, RankDevice& device);
  ~Lanes();
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  /// Whether a stream is a thread.
  [[nodiscard]] bool queues(step::Stream stream) const;
  /// Queues work on such a stream.
  Ticket submit(step::Stream stream, std::function<void()> work);
  /// After what was queued on a stream so far; at once when it is no thread.
  [[nodiscard]] Ticket last(step::Stream stream) const;
  /// Waits for a moment (on a device that runs behind: until the work is issued, and what this
  /// thread issues then comes after it) and says when it was; for one before the last `wait_all`,
  /// and for "at once", the beginning of time. Rethrows what the lane's work threw.
  Moment wait(Ticket ticket);
  /// Waits until every lane is idle.
  void wait_all();

 private:
  struct Lane;
  RankDevice& device_;
  std::array<std::unique_ptr<Lane>, step::kStreams> lanes_;
};

}  // namespace stepwright::runtime
