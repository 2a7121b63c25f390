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

/// Bounds of what a run has on its way. The same on all ranks of a group.
struct ExecutionLimits {
  std::int64_t message_bytes = 1 << 20;  ///< Longer messages are cut; a multiple of 16.
  std::size_t in_flight = 8;             ///< Messages of a channel that are under way.
};

/// Runs the part of one rank in a schedule that `defect_of` finds nothing wrong with: channels side
/// by side, on threads of their own, sums in the order that the schedule gives, so that the result
/// is the same from run to run.
///
/// Beside the schedule's scratch it holds at most `in_flight` messages for each channel that adds.
class ScheduleExecutor {
 public:
  /// Starts threads with the first run that needs them.
  explicit ScheduleExecutor(ExecutionLimits limits = {});

  /// Returns when the rank's part is over. Throws the first failure of a channel, after all of them
  /// have ended; the transport is aborted then. One run at a time.
  void run(const collective::RankSchedule& schedule, const RankMemory& memory,
           const Reduction& reduction, Transport& transport);

  /// Memory held between runs for what is to be added.
  [[nodiscard]] std::int64_t staging_bytes() const;

 private:
  ExecutionLimits limits_;
  ChannelThreads threads_;
  std::vector<std::vector<std::byte>> staging_;  ///< Staging buffers, by channel.
};

}  // namespace stepwright::transport
