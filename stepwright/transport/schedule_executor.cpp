#include "stepwright/transport/schedule_executor.h"

#include <algorithm>

#include "stepwright/core/error.h"
#include "stepwright/transport/channel_walk.h"
#include "stepwright/transport/run_state.h"

namespace stepwright::transport {
namespace {

/// Returns the bytes of one slot in which a channel receives pieces to add, in whole cache lines; 0
/// if it adds nothing.
std::size_t slot_bytes(const collective::RankStepSequence& channel, std::int64_t piece_bytes,
                       std::int64_t most) {
  constexpr std::int64_t kLine = 64;
  std::int64_t longest = 0;
  for (const collective::CollectiveScheduleStep& step : channel.steps) {
    if (step.kind == collective::CollectiveStepOperation::kReceiveReduce)
      longest = std::max(longest, step.pieces * piece_bytes);
  }
  return static_cast<std::size_t>((std::min(longest, most) + kLine - 1) / kLine * kLine);
}

}  // namespace

CollectiveScheduleExecutor::CollectiveScheduleExecutor(InFlightMessageLimits limits)
    : limits_(limits) {
  if (limits.message_bytes < 16 || limits.message_bytes % 16 != 0) {
    fail_input("message_bytes: not a positive multiple of 16");
  }
  if (limits.in_flight < 1) fail_input("in_flight: below 1");
}

void CollectiveScheduleExecutor::run_rank_schedule(
    const collective::RankCollectiveSchedule& schedule, const RankCollectiveBuffers& memory,
    const CollectiveReduction& reduction, MessageTransport& transport) {
  const std::size_t channels = schedule.channels.size();
  if (staging_.size() < channels) staging_.resize(channels);
  for (std::size_t c = 0; c < channels; ++c) {
    const std::size_t need =
        limits_.in_flight *
        slot_bytes(schedule.channels[c], memory.piece_bytes, limits_.message_bytes);
    if (staging_[c].size() < need) staging_[c].resize(need);
  }
  CollectiveChannelProgress state(channels);
  const CollectiveRunContext context{
      schedule, memory, reduction, transport, state, limits_.message_bytes, limits_.in_flight};
  threads_.run_in_parallel(channels, [&](std::size_t c) {
    try {
      CollectiveChannelRunner(context, c, staging_[c]).run_channel_steps();
    } catch (...) {
      if (state.fail(std::current_exception())) transport.abort();
    }
  });
  state.rethrow_first_error();
}

std::int64_t CollectiveScheduleExecutor::receive_staging_buffer_bytes() const {
  std::int64_t bytes = 0;
  for (const auto& staging : staging_) bytes += std::ssize(staging);
  return bytes;
}

}  // namespace stepwright::transport
