#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stepwright/collective/schedule.h"
#include "stepwright/transport/channel_threads.h"
#include "stepwright/transport/rank_memory.h"
#include "stepwright/transport/reduction.h"
#include "stepwright/transport/transport.h"

namespace stepwright::transport {

/// Limits of the messages that a collective has in flight. They must be equal on all ranks of a
/// group.
struct InFlightMessageLimits {
  /// Most bytes of one message, a multiple of 16; longer data is sent as several messages.
  std::int64_t message_bytes = 1 << 20;
  std::size_t in_flight = 8;  ///< Most messages that each channel has in flight at a time.
};

/// Runs one rank's part of a collective's schedule, which must have no defect. Channels run in
/// parallel on threads. Sums are in the schedule's order, so that results are equal in every run.
/// Besides the schedule's scratch, it holds at most `in_flight` messages for each channel that
/// adds.
class CollectiveScheduleExecutor {
 public:
  /// Creates no threads yet; they start with the first run that needs them.
  explicit CollectiveScheduleExecutor(InFlightMessageLimits limits = {});

  /// Runs the rank's part of a collective and returns when it is done. Throws the first error of a
  /// channel, after all channels have ended; the transport is then aborted. One run at a time.
  void run_rank_schedule(const collective::RankCollectiveSchedule& schedule,
                         const RankCollectiveBuffers& memory, const CollectiveReduction& reduction,
                         MessageTransport& transport);

  /// Returns the bytes of buffers, kept between runs, for received pieces that are to be added.
  [[nodiscard]] std::int64_t receive_staging_buffer_bytes() const;

 private:
  InFlightMessageLimits limits_;
  CollectiveChannelThreadPool threads_;
  /// Buffers for received pieces that are to be added, by channel.
  std::vector<std::vector<std::byte>> staging_;
};

}  // namespace stepwright::transport
