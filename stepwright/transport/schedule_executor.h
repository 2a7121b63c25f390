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

/// Limits of the messages that a run has in flight. They must be equal on all ranks of a group.
struct ExecutionLimits {
  /// Most bytes of a message, a multiple of 16; longer messages are cut.
  std::int64_t message_bytes = 1 << 20;
  std::size_t in_flight = 8;  ///< Most messages of a channel that are in flight at a time.
};

/// Runs the part of one rank in a schedule in which `find_schedule_defect` finds no defect.
/// Channels run in parallel, on threads of their own; sums are in the order of the schedule, so
/// that the result is equal in every run.
///
/// In addition to the schedule's scratch, it holds at most `in_flight` messages for each channel
/// that adds.
class ScheduleExecutor {
 public:
  /// Makes an executor; threads start with the first run that needs them.
  explicit ScheduleExecutor(ExecutionLimits limits = {});

  /// Runs the rank's part and returns when it is done. Throws the first failure of a channel, after
  /// all channels have ended; the transport is then aborted. One run at a time.
  void run(const collective::RankSchedule& schedule, const RankMemory& memory,
           const Reduction& reduction, Transport& transport);

  /// Returns the bytes held between runs for received pieces that are to be added.
  [[nodiscard]] std::int64_t staging_bytes() const;

 private:
  ExecutionLimits limits_;
  ChannelThreads threads_;
  std::vector<std::vector<std::byte>> staging_;  ///< Staging buffers, by channel.
};

}  // namespace stepwright::transport
