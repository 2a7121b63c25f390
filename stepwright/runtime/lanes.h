#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>

#include "stepwright/step/operator.h"

namespace stepwright {

/// A moment on a lane: after its first `number` pieces of work; 0: at once.
struct Ticket {
  Stream stream = Stream::kCompute;
  std::int64_t number = 0;
};

/// The streams of a rank without a device: work of the compute stream runs where it is given, every
/// other stream is a thread that works off a queue in order.
class Lanes {
 public:
  Lanes();
  ~Lanes();
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  /// Queues work on a stream other than the compute stream.
  Ticket submit(Stream stream, std::function<void()> work);
  /// Waits for a moment. Rethrows what the lane's work threw.
  void wait(Ticket ticket);
  /// Waits until every lane is idle.
  void wait_all();

 private:
  struct Lane;
  std::array<std::unique_ptr<Lane>, kStreams> lanes_;
};

}  // namespace stepwright
